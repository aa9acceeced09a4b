// The kernel of a sink's gradient, compiled as C++ and run on the host.
#pragma once

#include "kernels/joints/sink_gradient.h"

namespace sdpa_test {

// Runs all blocks on host memory. The seed chooses which warps run slower than others.
void run_on_host(cudnn_frontend::kernels::SinkGradientProblem const& problem,
                 cudnn_frontend::kernels::Pointers pointers, unsigned seed);

}  // namespace sdpa_test
