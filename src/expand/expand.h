// ValidatedGraph -> OpGraph: pure functions, one small function for each step of the mathematics.
#pragma once

#include "ir/op_graph.h"
#include "nodes/validate.h"

namespace cudnn_frontend::inline v1::expand {

// What the op graph is made for.
struct Capabilities {
    bool fused_attention = false;  // the target takes attention as one operation
};

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, Capabilities const& capabilities);

}  // namespace cudnn_frontend::inline v1::expand
