#include "plan/packs/overlap.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>

namespace cudnn_frontend::plan {
namespace {

// Two tensors whose elements are on one grid of strides.
struct Grid {
    core::Dims a_dim, b_dim, stride;
};

// The common strides, if there are any; a dim of size 1 fits any stride. Empty if the larger dims do not nest under
// these strides.
std::optional<Grid> common_grid(Slot const& a, Slot const& b) {
    if (a.element_size != b.element_size || a.stride.size() != b.stride.size()) return std::nullopt;
    Grid grid;
    core::Dims dim;
    for (std::size_t i = 0; i < a.stride.size(); ++i) {
        bool const both_move = a.dim[i] > 1 && b.dim[i] > 1;
        if (both_move && a.stride[i] != b.stride[i]) return std::nullopt;
        std::int64_t const step = a.dim[i] > 1 ? a.stride[i] : b.stride[i];
        std::int64_t const size = std::max(a.dim[i], b.dim[i]);
        if (size == 1 || step == 0) continue;
        grid.a_dim.push_back(a.dim[i]);
        grid.b_dim.push_back(b.dim[i]);
        grid.stride.push_back(step);
        dim.push_back(size);
    }
    if (core::overlaps_itself(dim, grid.stride)) return std::nullopt;
    return grid;
}

// Whether some sum of d[i] * stride[i] with -b_dim[i] < d[i] < a_dim[i] gives the distance. Goes from the largest
// stride down; since in a nested layout the smaller strides reach less than one step of the larger, only the quotients
// next to the exact one need to be tried at each.
bool reaches(std::int64_t distance, Grid const& grid, std::vector<std::size_t> const& order, std::size_t depth) {
    if (depth == order.size()) return distance == 0;
    std::size_t const i = order[depth];
    std::int64_t const quotient = distance / grid.stride[i];
    return std::ranges::any_of(std::array{quotient - 1, quotient, quotient + 1}, [&](std::int64_t d) {
        bool const in_range = d > -grid.b_dim[i] && d < grid.a_dim[i];
        return in_range && reaches(distance - d * grid.stride[i], grid, order, depth + 1);
    });
}

bool overlaps_on_grid(Grid const& grid, std::int64_t element_size, std::int64_t bytes) {
    if (bytes % element_size != 0) return true;
    std::vector<std::size_t> order(grid.stride.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t x, std::size_t y) { return grid.stride[x] > grid.stride[y]; });
    return reaches(bytes / element_size, grid, order, 0);
}

// Whether the span contains elements that are not the tensor's. Elements repeated by a stride of 0 count once.
bool has_gaps(Slot const& slot) {
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < slot.dim.size(); ++i) {
        if (slot.stride[i] > 0) elements *= slot.dim[i];
    }
    return elements * slot.element_size < slot.span;
}

// A dim with more than one place: its stride in bytes, and the distance from its first to its last index.
struct StridedDim {
    std::int64_t bytes, reach;
};

std::vector<StridedDim> steps_of(Slot const& slot) {
    std::vector<StridedDim> steps;
    for (std::size_t i = 0; i < slot.dim.size(); ++i) {
        std::int64_t const bytes = slot.stride[i] * slot.element_size;
        if (slot.dim[i] > 1 && bytes > 0) steps.push_back({bytes, (slot.dim[i] - 1) * bytes});
    }
    return steps;
}

// The tensor as equal blocks of bytes, which start at multiples of a period: steps of at least the limit lead from
// block to block, smaller ones stay inside a block.
struct Blocks {
    std::int64_t period = 0, bytes = 0;

    Blocks(std::vector<StridedDim> const& steps, std::int64_t limit, std::int64_t element_size) : bytes(element_size) {
        for (StridedDim const& step : steps) {
            if (step.bytes >= limit) period = std::gcd(period, step.bytes);
            else bytes += step.reach;
        }
    }
};

// Whether there is a period in which the two tensors use different parts, in all repetitions.
bool use_different_parts(Slot const& a, Slot const& b, std::int64_t distance) {
    std::vector<StridedDim> const a_steps = steps_of(a), b_steps = steps_of(b);
    auto const separates = [&](StridedDim const& step) {
        Blocks const in_a(a_steps, step.bytes, a.element_size), in_b(b_steps, step.bytes, b.element_size);
        std::int64_t const period = std::gcd(in_a.period, in_b.period);
        std::int64_t const offset = (distance % period + period) % period;
        return offset >= in_a.bytes && offset + in_b.bytes <= period;
    };
    return std::ranges::any_of(a_steps, separates) || std::ranges::any_of(b_steps, separates);
}

// A dense tensor, or a sequence of a ragged one.
struct DensePiece {
    std::byte const* data;
    std::int64_t bytes, rows;

    std::intptr_t begin() const { return reinterpret_cast<std::intptr_t>(data); }
    std::intptr_t end() const { return begin() + bytes; }
};

std::vector<DensePiece> pieces_of(Placed const& tensor) {
    Slot const& slot = tensor.slot;
    auto const* const data = static_cast<std::byte const*>(tensor.data);
    if (!slot.is_ragged()) return {{data, slot.span, 0}};
    std::vector<DensePiece> pieces;
    std::int64_t const first_row = sequence_slot(slot, 1).span, row = slot.stride[2] * slot.element_size;
    for (PackedSequence const& sequence : tensor.sequences) {
        if (sequence.rows == 0) continue;
        std::int64_t const bytes = first_row + (sequence.rows - 1) * row;
        pieces.push_back({data + sequence.start * slot.element_size, bytes, sequence.rows});
    }
    return pieces;
}

Slot dense_slot_of(Placed const& tensor, DensePiece const& piece) {
    return tensor.slot.is_ragged() ? sequence_slot(tensor.slot, piece.rows) : tensor.slot;
}

}  // namespace

bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data) {
    auto const a_begin = reinterpret_cast<std::intptr_t>(a_data), b_begin = reinterpret_cast<std::intptr_t>(b_data);
    if (a_begin + a.span <= b_begin || b_begin + b.span <= a_begin) return false;
    if (a_begin == b_begin || (!has_gaps(a) && !has_gaps(b))) return true;
    if (auto const grid = common_grid(a, b)) return overlaps_on_grid(*grid, a.element_size, b_begin - a_begin);
    return !use_different_parts(a, b, b_begin - a_begin);
}

Extent extent_of(Slot const& slot, void const* data) {
    auto const begin = reinterpret_cast<std::intptr_t>(data);
    return {begin, begin + slot.span};
}

Extent extent_of(Placed const& tensor) {
    Extent const dense = extent_of(tensor.slot, tensor.data);
    if (!tensor.slot.is_ragged()) return dense;
    // A sequence has at most as many rows as the dims allow.
    Extent all{dense.begin, dense.begin};
    for (PackedSequence const& sequence : tensor.sequences) {
        all.end = std::max(all.end, dense.end + sequence.start * tensor.slot.element_size);
    }
    return all;
}

Slot sequence_slot(Slot const& ragged, std::int64_t rows) {
    Slot slot = ragged;
    slot.dim[0] = 1;
    slot.dim[2] = rows;
    slot.span = core::span_of(slot.dim, slot.stride).value_or(0) * slot.element_size;
    slot.offset_slot = Slot::kNoSlot;
    return slot;
}

// Both lists are in order: the piece that ends first overlaps none of those after the other piece.
bool share_memory(Placed const& a, Placed const& b) {
    std::vector<DensePiece> const in_a = pieces_of(a), in_b = pieces_of(b);
    for (std::size_t i = 0, j = 0; i < in_a.size() && j < in_b.size(); in_a[i].end() < in_b[j].end() ? ++i : ++j) {
        bool const is_apart = in_a[i].end() <= in_b[j].begin() || in_b[j].end() <= in_a[i].begin();
        if (is_apart) continue;
        if (share_memory(dense_slot_of(a, in_a[i]), in_a[i].data, dense_slot_of(b, in_b[j]), in_b[j].data)) return true;
    }
    return false;
}

}  // namespace cudnn_frontend::plan
