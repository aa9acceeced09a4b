// How fast the library's own kernels move their bytes, compared with a copy by the driver.
#pragma once

#include "cuda/device_facts.h"

namespace sdpa_test {

// Prints a table; returns how many rows are below 80 % of the copy that must not be.
int measure_kernels(cudnn_frontend::cuda::DeviceFacts const& device);

}  // namespace sdpa_test
