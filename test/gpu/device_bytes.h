// GPU memory for one test.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace sdpa_test {

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

}  // namespace sdpa_test
