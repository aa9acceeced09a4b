// Work that no call waits for: plans for the calls to come.
#pragma once

#include <cudnn_frontend/target.h>

#include <cstdint>
#include <functional>

namespace sdpa_graph::calls {

// The target is for the GPU of the work, which is current.
using Later = std::function<void(cudnn_frontend::Target const& target)>;

// Does the work on a thread that each GPU has, one after the other. False if too much waits already, or in builds
// without cuDNN; then it is not done. What still waits when the process ends is not done either.
bool do_later(std::int32_t device, Later work);

}  // namespace sdpa_graph::calls
