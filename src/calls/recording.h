// Calls whose work is recorded into a CUDA graph, which may be replayed long after the call.
#pragma once

#include <sdpa_graph/place.h>

namespace sdpa_graph::calls {

// Whether the target's stream is being captured. Never on a CPU.
bool is_recorded(cudnn_frontend::Target const& target) noexcept;

}  // namespace sdpa_graph::calls
