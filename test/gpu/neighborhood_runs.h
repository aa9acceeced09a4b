// Random cases of the kernels of neighborhood attention on the GPU.
#pragma once

#include "cuda/device_facts.h"

#include <cstdint>

namespace sdpa_test {

// Prints what is wrong, and how many cases are right; returns how many are not. Each case runs twice in every form that
// takes it, and must give the same bits.
int check_neighborhood(std::uint64_t cases, cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
