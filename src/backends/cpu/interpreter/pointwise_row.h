// Pointwise functions of numbers in double precision.
#pragma once

#include "ir/op_graph.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// Some elements of each operand, and memory for as many results. Only the mode's operands are read.
struct PointwiseRow {
    double const* in[3];
    double* out;
    std::int64_t count;
};

// All modes except GEN_INDEX, whose result depends on positions, not on operands.
void apply(ir::PointwiseFunction const& op, PointwiseRow const& row);

}  // namespace cudnn_frontend::cpu
