// Checks of enumerators, which may be made from any number.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes {

// Every field with an enumeration type, of the graph, its tensors and its nodes, has one of its values.
void enumerators_are_known(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes
