// Groups of GPUs, whose ranks exchange data by NCCL.
#pragma once

#include "group/transport.h"
#include "nccl/gpu_streams.h"
#include "nccl/nccl_library.h"

#include <memory>
#include <string>

namespace cudnn_frontend::nccl {

// Joins a group of as many ranks; returns when all have joined.
Result<std::shared_ptr<group::Transport>> join(Library const& library, std::unique_ptr<GpuStreams> streams,
                                               UniqueId const& id, int rank, int size, group::Milliseconds deadline);

// A communicator that is the program's. It is never aborted or destroyed here.
Result<std::shared_ptr<group::Transport>> adopt(Library const& library, std::unique_ptr<GpuStreams> streams,
                                                Communicator communicator, group::Milliseconds deadline);

Result<UniqueId> make_id(Library const& library);

// Rank 0 writes the id to a file, which must not be there; the others wait for it.
error_t share_id(std::string const& path, int rank, group::Milliseconds deadline, UniqueId& id);

}  // namespace cudnn_frontend::nccl
