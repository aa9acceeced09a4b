// Dropout by a mask whose two tensors may be given in either order, since their product is the same.
#pragma once

#include "nodes/schema/graph_spec.h"

namespace cudnn_frontend::nodes {

// Exchanges a node's dropout mask and its scale where each is in the other's place, and returns whether it did. Looks
// at types and dims, which are inferred by then.
bool put_dropout_in_order(GraphSpec const& graph, Node& node);

}  // namespace cudnn_frontend::nodes
