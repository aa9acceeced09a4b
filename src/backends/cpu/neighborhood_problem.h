// The op graph's operation of neighborhood attention, as the kernels take it.
#pragma once

#include "cpu/memory.h"
#include "cpu/neighborhood.h"

namespace cudnn_frontend::cpu {

// With the tensors in memory.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op, Memory const& memory);

// Without, for what depends on sizes alone.
NeighborhoodProblem problem_of(ir::OpGraph const& graph, ir::NeighborhoodOp const& op);

}  // namespace cudnn_frontend::cpu
