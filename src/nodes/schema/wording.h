// The texts of findings, and the names of tensors and nodes in messages and in what is made of them.
#pragma once

#include "core/text.h"
#include "nodes/schema/graph_spec.h"
#include "nodes/schema/node.h"
#include "nodes/schema/tensor_spec.h"

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::nodes {

using core::text;

// The placeholder for the port in the texts of a finding. A finding that several ports share names all of them there.
inline constexpr std::string_view kPort = "\x01";

// "Q, K and V": the parts, with the word before the last one. For many parts, the first 16 and the number of the
// others.
std::string listed(std::vector<std::string> const& parts, std::string_view last_word);

// Results of a node without a name are called "::O", which does not count.
inline bool has_name(TensorSpec const& tensor) { return !tensor.name.empty() && !tensor.name.starts_with("::"); }

// The node's name, or its kind and position.
std::string label(GraphSpec const& graph, Node const& node);
std::string label(Node const& node, std::size_t position);

// Names for values and operations that belong to a node: the node's own name, or its kind in lower case if it has none.
std::string name_of_node(Node const& node);

// The tensor's own name, or one derived from its producer, which is null if no node produces it.
std::string name_of_tensor(TensorSpec const& tensor, Node const* producer);

}  // namespace cudnn_frontend::nodes
