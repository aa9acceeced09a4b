// The nodes of a score modifier belong to the attention whose scores they change. A program may describe them in a
// row with the others, as the graph API does.
#pragma once

#include "nodes/schema/graph_spec.h"

namespace cudnn_frontend::nodes {

// Whether attention reads something in place of its scores, or of their gradient; false for other nodes.
bool has_modifier(Node const& node);

// Any operation may be part of one. Attention may read the scores of another, but is no part of a modifier.
bool may_be_of_modifier(NodeKind kind);

// Moves from the graph's nodes into each attention's modifier what lies between the scores that attention shows and
// what it reads in their place, and the pointwise nodes whose results nothing else reads. Attention stays outside.
void gather_modifiers(GraphSpec& graph);

// The other way: puts the nodes of each modifier in front of its attention.
void flatten_modifiers(GraphSpec& graph);

}  // namespace cudnn_frontend::nodes
