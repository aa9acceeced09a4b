// A hint for the most common mistake about layouts: rows before heads.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <string>

namespace cudnn_frontend::nodes {

// The hint if an invalid graph would satisfy every rule with dims 1 and 2 of some of attention's tensors swapped; else
// empty.
std::string order_hint(GraphSpec const& described, bool (*meets_all_rules)(GraphSpec graph));

}  // namespace cudnn_frontend::nodes
