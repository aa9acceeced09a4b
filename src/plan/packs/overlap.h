// Whether two tensors have an element in common.
#pragma once

#include "plan/packs/pack.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace cudnn_frontend::plan {

// Exact for tensors that start at the same pointer, that have no gaps, or that have equal strides (such as Q, K and V
// interleaved in one buffer). Interleaved tensors of different strides count as sharing memory unless they use
// different parts of a common period (such as O next to Stats in each row of a buffer). So no sharing is missed, but
// some interleavings without such a period are refused.
bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data);

// A tensor in memory; a ragged one as its sequences, in order and disjoint.
struct Placed {
    Slot const& slot;
    void const* data;
    PackedSequences const& sequences;
};

// The same for tensors that may be ragged, of which only the sequences' rows count.
bool share_memory(Placed const& a, Placed const& b);

// The bytes from the first one that a tensor may use to past the last.
struct Extent {
    std::intptr_t begin, end;
};
Extent extent_of(Slot const& slot, void const* data);  // for a ragged tensor: of a sequence at its start
Extent extent_of(Placed const& tensor);

// Calls visit(a, b) once for each pair of slots whose extents overlap and of which at least one is written, in any
// order.
template <class Visit>
void for_each_overlap(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit);

// One sequence of a ragged tensor, of at least one row.
Slot sequence_slot(Slot const& ragged, std::int64_t rows);

// The two algorithms of for_each_overlap(): all pairs, faster for few slots, and a sweep over the addresses.
template <class Visit>
void compare_pairs(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit) {
    for (std::size_t b = 1; b < slots.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a) {
            bool const overlap = extents[a].begin < extents[b].end && extents[b].begin < extents[a].end;
            if (overlap && (slots[a].is_written || slots[b].is_written)) visit(a, b);
        }
    }
}

// Among the extents that are open at an address, written ones and inputs are kept in separate lists, so that inputs
// that share memory with each other cost nothing.
template <class Visit>
void sweep(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit) {
    SlotList<std::size_t> orders(slots.size()), open_written(slots.size()), open_others(slots.size());
    std::span<std::size_t> const order = orders.all(), written = open_written.all(), others = open_others.all();
    std::size_t written_count = 0, other_count = 0;
    auto const visit_open = [&](std::size_t at, std::span<std::size_t> open, std::size_t& open_count) {
        for (std::size_t i = 0; i < open_count;) {
            bool const has_ended = extents[open[i]].end <= extents[at].begin;
            if (has_ended) open[i] = open[--open_count];
            else visit(open[i++], at);
        }
    };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return extents[a].begin < extents[b].begin; });
    for (std::size_t const at : order) {
        visit_open(at, written, written_count);
        if (slots[at].is_written) {
            visit_open(at, others, other_count);
            written[written_count++] = at;
        } else {
            others[other_count++] = at;
        }
    }
}

template <class Visit>
void for_each_overlap(std::vector<Slot> const& slots, std::span<Extent const> extents, Visit const& visit) {
    constexpr std::size_t kFew = 8;
    if (slots.size() <= kFew) compare_pairs(slots, extents, visit);
    else sweep(slots, extents, visit);
}

}  // namespace cudnn_frontend::plan
