// The kernels of neighborhood attention, compiled as C++ and run on the host.
#pragma once

#include "kernels/neighborhood/neighborhood_launch.h"

namespace sdpa_test {

// Runs all blocks of a bound launch, one after the other, on host memory.
void run_on_host(cudnn_frontend::kernels::NeighborhoodKernelProblem const& problem,
                 cudnn_frontend::kernels::NeighborhoodForm form,
                 cudnn_frontend::kernels::NeighborhoodLaunch const& launch);

}  // namespace sdpa_test
