// One function for each way in which a node becomes operations.
#pragma once

#include "expand/attention_scope.h"

namespace cudnn_frontend::expand {

// A node that is one primitive operation.
void expand_primitive(NodeScope& at);
ir::PointwiseFunction function_of(nodes::PointwiseFields const& fields);

// The functions of neighborhood attention, as products over windows.
void expand_neighborhood(NodeScope& node);
// The same as one operation.
void expand_fused_neighborhood(NodeScope& node);

// Attention as primitive operations, in the order of data flow.
void expand_forward(AttentionScope& at);
void expand_backward(AttentionScope& at);

// Attention as one operation, with these steps of its modifier inside. It touches the same tensors of the user as the
// primitive operations do.
using RegionSteps = std::optional<ModifierNodes>;
void expand_fused_forward(AttentionScope& at, RegionSteps const& steps);
void expand_fused_backward(AttentionScope& at, RegionSteps const& steps);

}  // namespace cudnn_frontend::expand
