// The kernels of neighborhood attention on the GPU.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// Random cases, in each form that a case allows; prints what is wrong, and how many ran in each form. Returns how many
// are wrong.
int check_neighborhood_kernels(int cases, cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
