// Nodes that read an intermediate result of attention: they become operations in the middle of attention's own.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cudnn_frontend/status.h>

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace cudnn_frontend::expand {

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
