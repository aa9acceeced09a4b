// The library's uses of the CUDA driver: memory for tables, zeros, and timing. Kernels are in module.h, CUDA graphs in
// cuda_graph.h; cuDNN does the rest.
#pragma once

#include "cuda/driver_table.h"

#include <bit>
#include <cstddef>
#include <memory>
#include <span>

namespace cudnn_frontend::cuda {

// Success if there is a CUDA driver with a device. Loads the driver, which is never unloaded.
error_t check_driver();

// How many devices there are, at least one. Loads the driver, for good.
Result<int> device_count();

// Whether it is worth asking: the files through which drivers reach a GPU. Loads nothing, so that a process may still
// plan offline on a machine that has a driver and no GPU.
bool may_have_gpu();

// Makes the device's context current if the thread has none, as threads that have made no CUDA call yet.
error_t use_device(int ordinal);

// The same for the device of the stream, and for the first one with the default stream.
error_t use_device_of(CUstream stream);

// The result of enqueueing work. Most threads have a context, so that nothing is asked before a first attempt.
template <class Enqueue>
CUresult enqueue_on(CUstream stream, Enqueue const& enqueue) {
    CUresult const result = enqueue();
    bool const lacks_context = result == CUDA_ERROR_INVALID_CONTEXT;
    return lacks_context && use_device_of(stream).is_good() ? enqueue() : result;
}

struct DriverNames {
    std::string gpu;
    int driver_major = 0;  // the newest major version of CUDA that the driver serves
};
Result<DriverNames> names_of(int ordinal);
Result<int> driver_major();

// Lets this thread make calls that another thread's recording of a CUDA graph would forbid it.
error_t stay_out_of_captures();

Result<int> memory_bus_width(int ordinal);  // bits

// The device of the stream's context, or of the current one for the default stream.
Result<int> device_of(CUstream stream);

struct DeviceMemory {
    explicit DeviceMemory(CUdeviceptr start) : address(start) {}
    DeviceMemory(DeviceMemory const&) = delete;
    DeviceMemory& operator=(DeviceMemory const&) = delete;
    ~DeviceMemory();

    void* pointer() const { return std::bit_cast<void*>(address); }
    CUdeviceptr address;
};

Result<std::shared_ptr<DeviceMemory const>> allocate(std::size_t bytes);
error_t upload(DeviceMemory const& memory, std::size_t offset, std::span<std::byte const> bytes);

// Reads GPU memory. Does not wait for streams that still write there.
error_t download(std::span<std::byte> to, void const* from);
// Enqueues the writing of zeros.
error_t clear(CUstream stream, std::span<std::byte> memory);
error_t wait_for(CUstream stream);
Result<bool> is_capturing(CUstream stream);

// Times work on a stream, between two events.
class StreamClock {
   public:
    static Result<std::shared_ptr<StreamClock>> make(CUstream stream);
    ~StreamClock();
    error_t start();
    // Waits for the stream; microseconds since start().
    Result<double> stop();

   private:
    CUstream stream_ = nullptr;
    CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace cudnn_frontend::cuda
