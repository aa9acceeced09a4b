// The nodes of score modifiers: those that run inside attention as one operation, and those that wait for its scores.
#pragma once

#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"

#include <cudnn_frontend/status.h>

#include <functional>
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

// Nodes that read an intermediate result of attention: they become operations in the middle of attention's own.

class WaitingNodes {
   public:
    using Expand = std::function<error_t(nodes::Node const&)>;
    WaitingNodes(nodes::GraphSpec const& spec, Expand expand);

    // Whether the node reads, directly or not, a tensor that is not made yet; it is kept if so.
    bool keeps(nodes::Node const& node);
    // The tensor is made: expands the nodes that waited for nothing else.
    void release(nodes::TensorId tensor);
    // The first error of an expansion.
    error_t const& status() const { return status_; }

   private:
    struct WaitingNode {
        nodes::Node const* node;
        std::size_t missing;  // inputs, except those that the node's own modifiers return
    };

    std::size_t count_missing(nodes::Node const& node) const;
    bool waits_for_modifiers(nodes::Node const& node) const;
    bool is_missing_elsewhere(nodes::TensorId tensor, nodes::Node const& node) const;
    void keep(nodes::Node const& node);
    void mark_made(nodes::TensorId tensor);
    std::set<std::size_t>::iterator find_ready();

    Expand expand_;
    std::set<nodes::TensorId> missing_;
    std::vector<WaitingNode> kept_;                                    // all that ever were, in the order of keeping
    std::map<nodes::TensorId, std::size_t> makers_;                    // of those: the one that makes a tensor
    std::map<nodes::TensorId, std::vector<std::size_t>> waiting_for_;  // of those: once for each port that reads it
    std::set<std::size_t> complete_;                                   // of those: kept still, with no input missing
    error_t status_;
};

}  // namespace cudnn_frontend::expand
