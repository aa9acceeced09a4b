// Problems of neighborhood attention as launches.
#pragma once

#include "kernels/launch/code.h"
#include "kernels/neighborhood/neighborhood_kernel.h"

namespace cudnn_frontend::kernels {

// A launch without its pointers.
struct NeighborhoodLaunch {
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    NeighborhoodArguments arguments{};
};

// The launch of a problem that passed check(), and has no reason against the form.
NeighborhoodLaunch neighborhood_launch(NeighborhoodKernelProblem const& problem, NeighborhoodForm form);

// Puts the pointers in, one for each operand that there is. Rows are read by vectors where strides and addresses allow
// it.
void bind(NeighborhoodKernelProblem const& problem, NeighborhoodArguments& arguments, Pointers pointers);

// The code that computes the problem, and the index of its function.
CodeName neighborhood_code(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, int compute_capability);
std::size_t neighborhood_function(NeighborhoodWork work);

}  // namespace cudnn_frontend::kernels
