// The rules of the engine 'attention': which graphs it runs, and which of these it offers itself for.
#pragma once

#include "kernels/attention/attention_problem.h"
#include "kernels/attention/attention_values.h"
#include "nodes/schema/node.h"

namespace cudnn_frontend::kernels {

// Which of the graphs that the engine can run it offers itself for.
enum class AttentionOffer {
    // Graphs with an advantage_of(), and graphs without packed sequences whose scores have no terms except a modifier.
    NextToOthers,
    // All except those with dropout, or with pages and without a score modifier or block mask: other engines run them.
    BeforeOthers,
    Alone,       // all
    InAnyBatch,  // those in which a row's bits depend on its own sequence alone
};

// Checks that the graph's attention is one operation, and its only one. The node is null where the graph has none.
error_t check_operation(nodes::Node const* node, std::optional<AttentionValues> const& values);

// Whether the rules about sizes and strides let a problem pass.
bool may_have_sizes_of(AttentionKernelProblem const& problem);

// Checks everything else. `modifier` says why the score modifier has no code, where it has none.
error_t check_attention(AttentionValues const& values, AttentionKernelProblem const& problem, error_t const& modifier,
                        DeviceFacts const& device, AttentionOffer offer);

}  // namespace cudnn_frontend::kernels
