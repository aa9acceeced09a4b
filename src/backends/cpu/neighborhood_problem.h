// The op graph's operation of neighborhood attention, as an argument of the kernels.
#pragma once

#include "cpu/memory.h"
#include "cpu/neighborhood.h"

namespace cudnn_frontend::cpu {

// The operation with the tensors in memory.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op, Memory const& memory);

// The operation without them, for functions that depend on sizes alone.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op);

}  // namespace cudnn_frontend::cpu
