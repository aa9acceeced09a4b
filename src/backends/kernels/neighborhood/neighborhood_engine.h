// Engines for graphs of one neighborhood attention.
#pragma once

#include "kernels/launch/kernel_chain.h"
#include "kernels/neighborhood/neighborhood_graph.h"

#include <string>

namespace cudnn_frontend::kernels {

// The name by which plans are stored.
std::string engine_name(NeighborhoodForm form);

KernelChain neighborhood_chain(NeighborhoodSteps steps, DeviceFacts const& device);

}  // namespace cudnn_frontend::kernels
