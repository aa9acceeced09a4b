// Kernels on strides and counts that pass 2^31.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// Returns how many failed and prints them. Needs 13 GiB of GPU memory.
int check_large_kernels(cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
