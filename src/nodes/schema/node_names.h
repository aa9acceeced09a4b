// What values and operations that belong to a node are named after.
#pragma once

#include "nodes/schema/node.h"
#include "nodes/schema/tensor_spec.h"

namespace cudnn_frontend::nodes {

// The node's own name, or its kind in lower case where the user gave none.
std::string name_of_node(Node const& node);

// The tensor's own name, or one that tells where it comes from; null: not from a node.
std::string name_of_tensor(TensorSpec const& tensor, Node const* producer);

}  // namespace cudnn_frontend::nodes
