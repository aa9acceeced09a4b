// Enumerators that came in as numbers.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes {

// Every field of the graph, its tensors and its nodes that is of an enumeration holds one of its values.
void enumerators_are_known(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes
