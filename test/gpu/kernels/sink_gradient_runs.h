// Runs random cases of a sink's gradient by the library's own kernel on the GPU.
#pragma once

#include "kernels/launch/kernel.h"

#include <cstdint>

namespace sdpa_test {

// How many cases are wrong, or have other bits in another run.
int check_sink_gradients(std::uint64_t count, cudnn_frontend::kernels::DeviceFacts const& device);

}  // namespace sdpa_test
