// Common to the nodes that move elements and compute nothing: a result Y of X's data type.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes::moves {

// Sets Y's data type to X's, which may itself be the graph's default.
inline void infer_type(GraphSpec& graph, Node const& node, int x, int y) {
    TensorSpec const* const from = graph.tensor(node, x);
    TensorSpec* const to = graph.tensor(node, y);
    if (from == nullptr || to == nullptr || to->data_type != DataType_t::NOT_SET) return;
    to->data_type = from->data_type == DataType_t::NOT_SET ? default_type(graph, *from) : from->data_type;
}

// Reports at Y if both have a data type and they differ.
inline void expect_type_of(RuleScope const& scope, int x, int y) {
    TensorSpec const* const from = scope.tensor(x);
    TensorSpec const* const to = scope.tensor(y);
    if (from == nullptr || to == nullptr || !has_type(*from) || !has_type(*to)) return;
    if (from->data_type == to->data_type) return;
    scope.report_port(y, text("Y of type ", to->data_type), text("X's type ", from->data_type),
                      "leave out set_data_type() on the result, and convert with a pointwise IDENTITY");
}

}  // namespace cudnn_frontend::nodes::moves
