// Work that no call waits for: plans for the calls to come.
#pragma once

#include <cudnn_frontend/target.h>

#include <cstdint>
#include <functional>

namespace sdpa_graph::calls {

// The target is for the GPU of the work, which is current.
using BackgroundWork = std::function<void(cudnn_frontend::Target const& target)>;

// Enqueues work for the GPU's background thread, which runs it in order. Returns false, without running it, if the
// queue is full, the thread cannot run, or the build has no cuDNN. Work that still waits when the process ends is
// dropped.
bool enqueue_background(std::int32_t device, BackgroundWork work);

}  // namespace sdpa_graph::calls
