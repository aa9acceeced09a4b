// How long the library's own kernels for neighborhood attention are expected to take: what programs of cuDNN's engines
// compete with.
#pragma once

#include "cudnn/planning/rates.h"
#include "nodes/schema/graph_spec.h"

#include <optional>

namespace cudnn_frontend::cudnn {

// Of fused neighborhood attention along one axis in 16 bits; nothing of other graphs.
std::optional<double> neighborhood_cost(nodes::GraphSpec const& graph, Rates const& rates, int multiprocessors);

}  // namespace cudnn_frontend::cudnn
