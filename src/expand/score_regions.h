// Score modifiers that can run inside attention as one operation: pointwise nodes whose results nothing else reads.
#pragma once

#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cudnn_frontend::expand {

class NodeScope;

// The nodes of a modifier, and of the one of its gradient, each after those that it reads.
using RegionNodes = std::vector<nodes::Node const*>;

class ScoreRegions {
   public:
    // None at all where a modifier of the graph is not such a region, or attention with one may not be one operation:
    // nodes then have to wait for scores, also for those of other attention.
    static ScoreRegions of_graph(nodes::GraphSpec const& graph, bool (*may_be_fused)(nodes::Node const& attention));

    // The region of attention; null where it has none.
    RegionNodes const* find(nodes::Node const& attention) const;
    // Whether the node becomes a step of a region.
    bool has_step(nodes::Node const& node) const { return steps_.contains(&node); }

   private:
    std::map<nodes::Node const*, RegionNodes> regions_;
    std::set<nodes::Node const*> steps_;
};

// The region of the attention node. Tensors that it reads become values.
ir::ScoreRegion make_region(NodeScope& attention, RegionNodes const& nodes);

}  // namespace cudnn_frontend::expand
