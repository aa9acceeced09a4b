// The kernels of attention, compiled as C++ and run on the host.
#pragma once

#include "kernels/attention/attention_graph.h"
#include "kernels/attention/attention_launch.h"

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <functional>
#include <string>

namespace sdpa_test {

// Runs all kernels of the problem, all blocks of each for so many multiprocessors one after the other, on host memory.
void run_on_host(cudnn_frontend::kernels::AttentionKernelProblem const& problem, int multiprocessors,
                 cudnn_frontend::kernels::Pointers pointers);
// Calls visit(problem, pointers) with what the engine reads from a graph, whose tensors have addresses by uid. Returns
// the engine's refusal.
cudnn_frontend::error_t visit_problem(cudnn_frontend::graph::Graph& graph,
                                      cudnn_frontend::kernels::AttentionOffer offer,
                                      std::function<void*(std::int64_t)> const& address,
                                      std::function<void(cudnn_frontend::kernels::AttentionKernelProblem const&,
                                                         cudnn_frontend::kernels::Pointers)> const& visit);
// Runs all kernels of a graph.
cudnn_frontend::error_t run_on_host(cudnn_frontend::graph::Graph& graph, cudnn_frontend::kernels::AttentionOffer offer,
                                    std::function<void*(std::int64_t)> const& address);

// How often the codes of named modifiers have computed terms of a distance.
std::int64_t distances_until_now();

// The bits that the kernels found for the blocks of the first head that has its own, as text: a line for each
// tile, in which a block is hidden (.), unchanged (#) or neither (+).
std::string text_of_blocks(cudnn_frontend::kernels::AttentionKernelProblem const& problem,
                           cudnn_frontend::kernels::Pointers pointers);
// Runs only the kernels that look for hidden blocks.
void find_hidden_blocks(cudnn_frontend::kernels::AttentionKernelProblem const& problem,
                        cudnn_frontend::kernels::Pointers pointers);

}  // namespace sdpa_test
