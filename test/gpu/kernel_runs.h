// Runs cases of the library's own kernels on the GPU.
#pragma once

#include "support/kernel_cases.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sdpa_test {

// GPU memory for one test.
class DeviceBytes {
   public:
    explicit DeviceBytes(std::size_t count) { cudaMalloc(&start_, count); }
    DeviceBytes(DeviceBytes const&) = delete;
    DeviceBytes& operator=(DeviceBytes const&) = delete;
    ~DeviceBytes() { cudaFree(start_); }

    std::byte* get() const { return static_cast<std::byte*>(start_); }  // null where there was no memory

   private:
    void* start_ = nullptr;
};

enum class WayToRun { Launch, CapturedLaunch, Node, UpdatedNode, UpdatedInstance };
inline constexpr int kWaysToRun = 5;

// What went wrong; empty where nothing did. Updates come from other buffers, which must stay as they were.
std::string fault_on_gpu(KernelCase const& made, kernels::DeviceFacts const& device, WayToRun way);

}  // namespace sdpa_test
