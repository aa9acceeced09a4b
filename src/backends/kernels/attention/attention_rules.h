// The rules of the engine 'attention': which graphs it runs, and which of these it offers itself for.
#pragma once

#include "kernels/attention/attention_problem.h"
#include "kernels/attention/attention_values.h"
#include "nodes/schema/node.h"

namespace cudnn_frontend::kernels {

// The graphs for which the engine is a candidate. Next to other engines: those with an advantage_of() theirs, with
// a score modifier, and forward without other terms of scores, all but with packed sequences. Before others, which run
// the graphs that it refuses: all but those with dropout. Alone: all. In any batch: those in which a row's bits depend
// on its own sequence alone.
enum class AttentionScope { NextToOthers, BeforeOthers, Alone, InAnyBatch };

// Checks that the graph's attention is one operation, and its only one. The node is null where the graph has none.
error_t check_operation(nodes::Node const* node, std::optional<AttentionValues> const& values);

// Checks everything else. `modifier` says why the score modifier has no code, where it has none.
error_t check_attention(AttentionValues const& values, AttentionKernelProblem const& problem, error_t const& modifier,
                        DeviceFacts const& device, AttentionScope scope);

}  // namespace cudnn_frontend::kernels
