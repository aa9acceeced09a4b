// The engine for graphs of one attention.
#pragma once

#include "kernels/attention/attention_graph.h"

namespace cudnn_frontend::kernels {

// The name by which plans are stored.
inline constexpr char const* kAttentionEngine = "attention";

// The refusal of sizes that do not fill the device.
error_t too_few_tiles();

// The sizes that a chain serves besides those of its graph.
enum class OtherSizes {
    None,
    ThatFill,  // those that fill the device, as far as its kernels can run them
    All        // that its kernels can run
};

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device, OtherSizes sizes);

}  // namespace cudnn_frontend::kernels
