// The texts of findings, and the names of tensors and nodes in messages and in what is made of them.
#pragma once

#include "core/findings.h"
#include "core/text.h"
#include "nodes/schema/graph_spec.h"
#include "nodes/schema/node.h"
#include "nodes/schema/tensor_spec.h"

#include <string>

namespace cudnn_frontend::nodes {

using core::kPort;
using core::text;

// Results of a node without a name are called "::O", which does not count.
inline bool has_name(TensorSpec const& tensor) { return !tensor.name.empty() && !tensor.name.starts_with("::"); }

// The node's name, or its kind and position.
std::string label(Node const& node);

// Names for values and operations that belong to a node: the node's own name, or its kind in lower case if it has none.
std::string name_of_node(Node const& node);

// The tensor's own name, or one derived from its producer, which is null if no node produces it.
std::string name_of_tensor(TensorSpec const& tensor, Node const* producer);

}  // namespace cudnn_frontend::nodes
