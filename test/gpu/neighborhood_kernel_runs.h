// The kernels of neighborhood attention on the GPU.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// Gradients by warpgroups are left out for racecheck. It takes a lane's arrival at an mbarrier for that of this lane's
// accesses alone, where the arrival follows a __syncwarp() and so stands for the warp's.
enum class NeighborhoodKernels { All, ThatRacecheckKnows };

// Random cases, in each form that a case allows; prints what is wrong, and how many ran in each form. Returns how many
// are wrong.
int check_neighborhood_kernels(NeighborhoodKernels which, int cases, cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
