// The targets of calls, and the handles of cuDNN that calls without a target of their own use.
#pragma once

#include "core/result.h"

#include <sdpa_graph/place.h>

#include <cstdint>
#include <mutex>

namespace sdpa_graph::calls {

// The target of a call. Its lock keeps another thread from the handle while the call uses it.
struct Lease {
    cudnn_frontend::Target target;
    std::unique_lock<std::mutex> lock;
    bool is_recorded = false;  // into a CUDA graph
};

// Whether the target's stream is being captured, so that its work may be replayed long after the call. Never on a CPU.
bool is_recorded(cudnn_frontend::Target const& target) noexcept;

// Makes the GPU current on a thread that has none, such as one of a program's pool. A failure is also that of later
// calls.
void use_gpu(std::int32_t device) noexcept;

// The target is for tensors on the device of this one.
cudnn_frontend::Result<Lease> lease_target(Place const& place, Tensor_view const& tensor);

}  // namespace sdpa_graph::calls
