// The names for values and operations that belong to a node.
#pragma once

#include "nodes/schema/node.h"
#include "nodes/schema/tensor_spec.h"

namespace cudnn_frontend::nodes {

// The node's own name, or its kind in lower case if it has none.
std::string name_of_node(Node const& node);

// The tensor's own name, or one derived from its producer, which is null if no node produces it.
std::string name_of_tensor(TensorSpec const& tensor, Node const* producer);

}  // namespace cudnn_frontend::nodes
