// What values and operations that belong to a node are named after.
#pragma once

#include "nodes/node.h"

namespace cudnn_frontend::expand {

// The node's own name, or its kind in lower case where the user gave none.
std::string name_of_node(nodes::Node const& node);

}  // namespace cudnn_frontend::expand
