// The engine for graphs of one attention.
#pragma once

#include "kernels/attention/attention_graph.h"

namespace cudnn_frontend::kernels {

// The name by which plans are stored.
inline constexpr char const* kAttentionEngine = "attention";

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device);

}  // namespace cudnn_frontend::kernels
