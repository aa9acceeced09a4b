// How fast neighborhood attention runs on the GPU.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// Prints a table; returns how many rows could not be run.
int measure_neighborhood(cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
