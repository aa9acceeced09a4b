// Runs cases of the library's own kernels on the GPU.
#pragma once

#include "gpu/device_bytes.h"
#include "support/kernel_cases.h"

#include <string>

namespace sdpa_test {

enum class WayToRun { Launch, CapturedLaunch, Node, UpdatedNode, UpdatedInstance };
inline constexpr int kWaysToRun = 5;

// The first fault; empty where there is none. Updates come from other buffers, which must stay as they were.
std::string fault_on_gpu(KernelCase const& made, kernels::DeviceFacts const& device, WayToRun way);

}  // namespace sdpa_test
