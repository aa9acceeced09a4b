// Operations that move elements and compute nothing.
#include "core/data_type.h"
#include "cpu/interpreter/interpreter.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace cudnn_frontend::cpu {
namespace {

// Elements of equal types are copied as bytes: a double would change 64-bit integers and the bits of NaN.
void move_element(Tensor const& x, std::int64_t from, Tensor const& y, std::int64_t to) {
    if (x.type == y.type) {
        std::int64_t const size = core::size_of(x.type);
        std::memcpy(static_cast<char*>(y.data) + to * size, static_cast<char const*>(x.data) + from * size,
                    static_cast<std::size_t>(size));
    } else {
        double const value = core::load(x.type, x.data, from);
        store_row(y, to, 1, 1, &value);
    }
}

// y's elements in row-major order of its indices, from x's at start + index * stride.
void gather(Tensor const& x, std::int64_t start, Extents const& stride, Tensor const& y) {
    Walk<2> element(y.rank, y.dim, {stride, y.stride});
    do {
        move_element(x, start + element.offset(0), y, element.offset(1));
    } while (element.next());
}

// The tensor with its dims sorted by stride, the largest first: walking it goes through memory in ascending order.
Tensor in_memory_order(Tensor const& tensor) {
    std::array<std::size_t, core::kMaxRank> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(tensor.rank),
                     [&](std::size_t a, std::size_t b) { return tensor.stride[a] > tensor.stride[b]; });
    Tensor sorted = tensor;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
        sorted.dim[d] = tensor.dim[order[d]];
        sorted.stride[d] = tensor.stride[order[d]];
    }
    return sorted;
}

}  // namespace

void interpret(ir::ReshapeOp const& op, Memory const& memory, double*) {
    bool const is_logical = op.mode == ReshapeMode_t::LOGICAL;
    auto const ordered = [&](ir::ValueId id) {
        return is_logical ? memory.tensor(id) : in_memory_order(memory.tensor(id));
    };
    Tensor const x = ordered(op.x), y = ordered(op.y);
    Walk<1> from(x.rank, x.dim, {x.stride}), to(y.rank, y.dim, {y.stride});
    do {
        move_element(x, from.offset(0), y, to.offset(0));
        to.next();
    } while (from.next());
}

void interpret(ir::SliceOp const& op, Memory const& memory, double*) {
    Tensor const x = memory.tensor(op.x), y = memory.tensor(op.y);
    std::int64_t start = 0;
    Extents stride{};
    for (std::size_t d = 0; d < x.rank; ++d) {
        start += op.start[d] * x.stride[d];
        stride[d] = y.dim[d] == 1 ? 0 : op.step[d] * x.stride[d];  // with a single index the step may be any number
    }
    gather(x, start, stride, y);
}

void interpret(ir::TransposeOp const& op, Memory const& memory, double*) {
    Tensor const x = memory.tensor(op.x), y = memory.tensor(op.y);
    Extents stride{};
    for (std::size_t d = 0; d < y.rank; ++d) stride[d] = x.stride[static_cast<std::size_t>(op.permutation[d])];
    gather(x, 0, stride, y);
}

}  // namespace cudnn_frontend::cpu
