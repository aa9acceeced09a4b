// Runs cases of the library's own kernels on the GPU.
#pragma once

#include "gpu/device_bytes.h"
#include "support/kernels/joint_cases.h"

#include <string>

namespace sdpa_test {

enum class WayToRun { Launch, CapturedLaunch, Node, UpdatedNode, UpdatedInstance };
inline constexpr int kWaysToRun = 5;

// Runs a kernel on memory of the GPU's; where it is updated, it was bound to other memory before. Returns the fault.
std::string run_on_gpu(kernels::Kernel const& kernel, WayToRun way, kernels::Pointers pointers,
                       kernels::Pointers others);

// The first fault; empty where there is none. Updates come from other buffers, which must stay as they were.
std::string fault_on_gpu(KernelCase const& made, kernels::DeviceFacts const& device, WayToRun way);

}  // namespace sdpa_test
