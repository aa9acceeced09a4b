// The arithmetic of pointwise operations.
#pragma once

#include "ir/op_graph.h"

namespace cudnn_frontend::cpu {

// Some elements of each operand, and room for as many results. Operands that the mode does not have are not read.
struct PointwiseRow {
    double const* in[3];
    double* out;
    std::int64_t count;
};

// Any mode but GEN_INDEX, whose result depends on positions and not on operands.
void apply(ir::PointwiseOp const& op, PointwiseRow const& row);

}  // namespace cudnn_frontend::cpu
