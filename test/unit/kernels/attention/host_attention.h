// The kernels of attention, compiled as C++ and run on the host.
#pragma once

#include "kernels/attention/attention_graph.h"
#include "kernels/attention/attention_launch.h"

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <functional>

namespace sdpa_test {

// Runs all kernels of the problem, all blocks of each for so many multiprocessors one after the other, on host memory.
void run_on_host(cudnn_frontend::kernels::AttentionKernelProblem const& problem, int multiprocessors,
                 cudnn_frontend::kernels::Pointers pointers);
// The same for a graph, whose tensors have addresses by uid.
cudnn_frontend::error_t run_on_host(cudnn_frontend::graph::Graph& graph, cudnn_frontend::kernels::AttentionScope scope,
                                    std::function<void*(std::int64_t)> const& address);

}  // namespace sdpa_test
