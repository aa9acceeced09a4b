// The GPU as exchanges use it: a stream of their own, and the order between it and the caller's.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <span>

namespace cudnn_frontend::nccl {

// Tests have one that is no GPU.
class GpuStreams {
   public:
    GpuStreams() = default;
    GpuStreams(GpuStreams const&) = delete;
    GpuStreams& operator=(GpuStreams const&) = delete;
    virtual ~GpuStreams() = default;

    // The stream of exchanges.
    virtual CUstream own() const = 0;
    // Work that is put on one stream from now on waits for what the other has.
    virtual error_t make_wait(CUstream waiting, CUstream other, CUevent event) = 0;
    virtual error_t record(CUevent event) = 0;  // on the own stream
    virtual error_t make_wait_for(CUstream waiting, CUevent event) = 0;
    virtual Result<CUevent> make_event() = 0;
    virtual Result<bool> is_done(CUstream stream) = 0;
    virtual Result<bool> is_capturing(CUstream stream) = 0;
    // Memory of the GPU, and copies that wait until they are done.
    virtual Result<std::shared_ptr<void>> allocate(std::size_t bytes) = 0;
    virtual error_t upload(void* to, std::span<std::byte const> bytes) = 0;
    virtual error_t download(std::span<std::byte> to, void const* from) = 0;
};

// The streams of the device whose context is current.
Result<std::unique_ptr<GpuStreams>> make_gpu_streams();

}  // namespace cudnn_frontend::nccl
