// Common to the nodes that move elements and compute nothing: a result Y of X's data type.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::moves {

// Sets Y's data type to X's, which may itself be the graph's default.
void infer_type(GraphSpec& graph, Node const& node, int x, int y);

// Reports at Y if both have a data type and they differ.
void expect_type_of(RuleScope const& scope, int x, int y);

}  // namespace cudnn_frontend::nodes::moves
