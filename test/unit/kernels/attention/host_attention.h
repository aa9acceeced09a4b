// The kernels of attention, compiled as C++ and run on the host.
#pragma once

#include "kernels/attention/attention_launch.h"

namespace sdpa_test {

// Runs all kernels of the problem, all blocks of each for so many multiprocessors one after the other, on host memory.
void run_on_host(cudnn_frontend::kernels::AttentionKernelProblem const& problem, int multiprocessors,
                 cudnn_frontend::kernels::Pointers pointers);

}  // namespace sdpa_test
