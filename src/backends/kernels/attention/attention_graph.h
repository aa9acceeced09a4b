// Graphs of one attention, forward or backward, as kernels, and the engine that runs them.
#pragma once

#include "kernels/attention/attention_problem.h"
#include "kernels/attention/attention_rules.h"
#include "kernels/launch/kernel_chain.h"
#include "nodes/validation/validate.h"

#include <vector>

namespace cudnn_frontend::kernels {

struct AttentionGraph {
    AttentionKernelProblem problem;
    std::vector<KernelPlace> places;  // of its pointers, in order
    plan::PackLayout layout;
};

bool is_attention(nodes::ValidatedGraph const& graph);
// Whether it is forward or backward, without a modifier, and nothing else.
bool is_one_attention(nodes::ValidatedGraph const& graph);
// Whether it is one attention with a bias or a score modifier, which other backends may not run, or more slowly.
bool has_bias_or_modifier(nodes::ValidatedGraph const& graph);

// A graph of one attention for a device. An error with every rule by which the kernels do not compute it.
Result<AttentionGraph> read_attention(nodes::ValidatedGraph const& graph, DeviceFacts const& device,
                                      AttentionOffer offer = AttentionOffer::Alone);

// The name of the engine, by which plans are stored.
inline constexpr char const* kAttentionEngine = "attention";

// The refusal of sizes that do not fill the device.
error_t too_few_tiles();

// The sizes that a chain serves in addition to those of its graph.
enum class OtherSizes {
    None,
    ThatFill,  // those that fill the device, as far as its kernels can run them
    All        // that its kernels can run
};

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device, OtherSizes sizes);

}  // namespace cudnn_frontend::kernels
