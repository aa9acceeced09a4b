// The steps of a score modifier that depend on the distance between a query and a key alone.
#pragma once

#include "ir/op_graph.h"

#include <cstdint>
#include <vector>

namespace cudnn_frontend::kernels {

// Steps that other steps or the results read, which depend on the distance, the batch and the head alone, and cost more
// than reading a number: kernels compute them once for each distance. Those that cost most come first.
std::vector<std::int32_t> distance_steps(ir::OpGraph const& graph, ir::ScoreRegion const& region);

}  // namespace cudnn_frontend::kernels
