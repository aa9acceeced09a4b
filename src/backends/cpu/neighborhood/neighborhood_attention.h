// Fused neighborhood attention on host memory: blocks of queries against the keys that their windows span, so that
// memory grows with the tokens and not with their squares.
#pragma once

#include "attention/neighborhood_operands.h"
#include "core/result.h"
#include "cpu/memory/memory.h"

#include <array>
#include <cstdint>

namespace cudnn_frontend::cpu {

// A HALF, BFLOAT16, FLOAT or DOUBLE tensor with a row for each batch entry, head and token. Strides are in elements.
struct TokenView {
    void* data = nullptr;  // null: the tensor is not connected
    DataType_t type = DataType_t::FLOAT;
    std::int64_t batch = 0, head = 0;
    std::array<std::int64_t, 3> axes{};
    std::int64_t last = 0;  // within the row

    explicit operator bool() const { return data != nullptr; }
};

using NeighborhoodAxes = std::array<neighborhood::Axis, 3>;

struct NeighborhoodProblem {
    neighborhood::Function function = neighborhood::Function::Forward;
    NeighborhoodAxes axes;  // of fewer, the first have one token
    std::int64_t batches = 1, heads = 1, width = 1;
    float scale = 1.0f;  // of scores, in the fused functions
    // Rows have `width` elements; those of Stats 1, of Attn and dAttn the slots of a window. Rows of the bias and its
    // gradient, of 1 element, are those of a head's distances: 2 * kernel - 1 along each axis.
    neighborhood::OfPorts<TokenView> tensors;

    TokenView& operator[](neighborhood::Port port) { return tensors[port]; }
    TokenView const& operator[](neighborhood::Port port) const { return tensors[port]; }
};

// Bytes of workspace, from sizes and from whether a tensor is there.
std::int64_t neighborhood_workspace(NeighborhoodProblem const& problem, int threads);

// Results are the same bits with any number of threads.
void neighborhood_attention(NeighborhoodProblem const& problem, int threads, void* workspace);

// The op graph's operation of neighborhood attention, as an argument of the kernels.

// The operation with the tensors in memory.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op, Memory const& memory);

// The operation without them, for functions that depend on sizes alone.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op);

}  // namespace cudnn_frontend::cpu
