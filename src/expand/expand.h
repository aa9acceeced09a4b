// ValidatedGraph -> OpGraph: pure functions, one small function for each step of the mathematics.
#pragma once

#include "ir/op_graph.h"
#include "nodes/validation/validate.h"

namespace cudnn_frontend::expand {

// The abilities of the target of the op graph.
struct TargetAbilities {
    // Attention as one operation: not at all, for nodes that ask for it, or wherever the node leaves the choice.
    enum class Fused { Never, OnRequest, Preferred };
    Fused fused_attention = Fused::Never;
    // Which nodes that leave the choice have no other form there; null: none.
    bool (*needs_fused)(nodes::GraphSpec const& graph, nodes::Node const& node) = nullptr;
    // Attention as one operation may have score modifiers inside (ir::ScoreRegion).
    bool fused_modifiers = false;
    bool fused_neighborhoods = false;  // neighborhood attention as one operation, too
};

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, TargetAbilities const& capabilities);

}  // namespace cudnn_frontend::expand
