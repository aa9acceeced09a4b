// The reference interpreter: runs the primitive operations one by one, in the graph's order.
#pragma once

#include "cpu/memory/memory.h"

namespace cudnn_frontend::cpu {

// The number of doubles that an operation needs as scratch; empty on overflow.
std::optional<std::int64_t> interpreter_scratch(ir::OpGraph const& graph, ir::MatmulOp const& op);

void interpret(ir::MatmulOp const& op, Memory const& memory, double* scratch);
void interpret(ir::PointwiseOp const& op, Memory const& memory, double* scratch);
void interpret(ir::ReductionOp const& op, Memory const& memory, double* scratch);
void interpret(ir::RngOp const& op, Memory const& memory, double* scratch);
void interpret(ir::ReshapeOp const& op, Memory const& memory, double* scratch);
void interpret(ir::SliceOp const& op, Memory const& memory, double* scratch);
void interpret(ir::TransposeOp const& op, Memory const& memory, double* scratch);
void interpret(ir::WindowProductOp const& op, Memory const& memory, double* scratch);
void interpret(ir::WindowBiasOp const& op, Memory const& memory, double* scratch);
void interpret(ir::WindowBiasSumOp const& op, Memory const& memory, double* scratch);
void interpret(ir::PagedLoadOp const& op, Memory const& memory, double* scratch);
void interpret(ir::BlockMaskOp const& op, Memory const& memory, double* scratch);
void interpret(ir::BlockDequantizeOp const& op, Memory const& memory, double* scratch);
void interpret(ir::BlockQuantizeOp const& op, Memory const& memory, double* scratch);

// Some elements of each operand, and memory for as many results. Only the mode's operands are read.
struct PointwiseRow {
    double const* in[3];
    double* out;
    std::int64_t count;
};

// Computes in double precision; score modifiers of fused attention use it, too. All modes except GEN_INDEX, whose
// result depends on positions, not on operands.
void apply(ir::PointwiseFunction const& op, PointwiseRow const& row);

}  // namespace cudnn_frontend::cpu
