// The kernels of neighborhood attention on the GPU.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// ThatRacecheckKnows leaves out gradients by warpgroups. In them one lane arrives at an mbarrier for its warp, after a
// __syncwarp(). racecheck assumes that this orders that lane's accesses only, and reports races on the other lanes'.
enum class NeighborhoodKernels { All, ThatRacecheckKnows };

// Random cases, in each form that a case allows; prints the faults, and how many ran in each form. Returns how many are
// wrong.
int check_neighborhood_kernels(NeighborhoodKernels which, int cases, cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
