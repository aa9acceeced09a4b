// How long kernels for neighborhood attention are expected to take: the times with which programs of other engines
// compete.
#pragma once

#include "kernels/neighborhood_graph.h"
#include "kernels/rates.h"

#include <optional>

namespace cudnn_frontend::kernels {

// In microseconds, for fused attention in 16 bits where the form was measured.
std::optional<double> neighborhood_cost(NeighborhoodSteps const& steps, Rates const& rates, int multiprocessors);

}  // namespace cudnn_frontend::kernels
