// This machine's GPU.
#pragma once

#include <string>

namespace sdpa_test {

int gpu_count();
int compute_capability();    // of the GPU that programs use: 90 for 9.0
std::string describe_gpu();  // "NVIDIA H200 (9.0), cuDNN 9.19.0"

}  // namespace sdpa_test
