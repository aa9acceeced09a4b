// What the nodes have in common that move elements and compute nothing: a result Y of X's data type.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::moves {

// Fills Y's data type with X's, which may still be left to the graph's defaults.
void infer_type(GraphSpec& graph, Node const& node, int x, int y);

// Reports at Y where both have a data type, and not the same one.
void expect_type_of(RuleScope const& scope, int x, int y);

}  // namespace cudnn_frontend::nodes::moves
