// Sequence lengths are data: they are known, and checked, only when a program runs.
#pragma once

#include "cpu/memory.h"

#include "core/result.h"

#include <span>
#include <vector>

namespace cudnn_frontend::cpu {

// The values that hold lengths computed from cumulative ones.
std::vector<ir::ValueId> values_of_steps(ir::OpGraph const& graph);
void compute_steps(ir::OpGraph const& graph, std::span<ir::ValueId const> values, Memory const& memory);

// Checks that each length that an operation reads is between 0 and the size of its dim.
error_t check_lengths(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
