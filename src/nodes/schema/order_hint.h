// For the commonest mistake about layouts: rows given before heads.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <string>

namespace cudnn_frontend::nodes {

// What to say where an invalid graph would meet every rule with dims 1 and 2 of some of attention's tensors exchanged;
// empty where it would not.
std::string order_hint(GraphSpec const& described, bool (*meets_all_rules)(GraphSpec graph));

}  // namespace cudnn_frontend::nodes
