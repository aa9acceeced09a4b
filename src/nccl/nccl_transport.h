// Groups of GPUs, whose ranks exchange data by NCCL, and the GPU as exchanges use it.
#pragma once

#include "core/result.h"
#include "group/transport.h"
#include "nccl/nccl_library.h"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cudnn_frontend::nccl {

// A stream for exchanges, and the order between it and the caller's. Tests have one that is no GPU.
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
    // Events that record their time, and the time between two of them: an error until both were reached.
    virtual Result<CUevent> make_timed_event() = 0;
    virtual error_t record_on(CUstream stream, CUevent event) = 0;
    virtual Result<double> milliseconds_between(CUevent begin, CUevent end) = 0;
    virtual Result<bool> is_done(CUstream stream) = 0;
    virtual Result<bool> is_capturing(CUstream stream) = 0;
    // Memory of the GPU, and copies that wait until they are done.
    virtual Result<std::shared_ptr<void>> allocate(std::size_t bytes) = 0;
    virtual error_t upload(void* to, std::span<std::byte const> bytes) = 0;
    virtual error_t download(std::span<std::byte> to, void const* from) = 0;
};

// The streams of the device whose context is current.
Result<std::unique_ptr<GpuStreams>> make_gpu_streams();

// Joins a group of as many ranks; returns when all have joined.
Result<std::shared_ptr<group::Transport>> join(NcclLibrary const& library, std::unique_ptr<GpuStreams> streams,
                                               UniqueId const& id, int rank, int size, group::Milliseconds deadline);

// A communicator that is the program's. It is never aborted or destroyed here.
Result<std::shared_ptr<group::Transport>> adopt(NcclLibrary const& library, std::unique_ptr<GpuStreams> streams,
                                                Communicator communicator, group::Milliseconds deadline);

Result<UniqueId> make_id(NcclLibrary const& library);

// Rank 0 writes the id to a file, which must not be there; the others wait for it.
error_t share_id(std::string const& path, int rank, group::Milliseconds deadline, UniqueId& id);

}  // namespace cudnn_frontend::nccl
