// Nodes that read a result which attention makes on its way: they become operations in the middle of attention's own.
#pragma once

#include "nodes/graph_spec.h"

#include <cudnn_frontend/status.h>

#include <functional>
#include <set>
#include <vector>

namespace cudnn_frontend::expand {

class WaitingNodes {
   public:
    using Expand = std::function<error_t(nodes::Node const&)>;
    WaitingNodes(nodes::GraphSpec const& spec, Expand expand);

    // Whether the node reads, directly or not, what is not made yet; it is kept if so.
    bool keeps(nodes::Node const& node);
    // The tensor is made: expands what waited for nothing else.
    void release(nodes::TensorId tensor);
    // The first error of an expansion.
    error_t const& status() const { return status_; }

   private:
    bool waits(nodes::Node const& node) const;
    bool is_missing_elsewhere(nodes::TensorId tensor, nodes::Node const& node) const;
    void set_outputs(nodes::Node const& node, bool are_made);

    Expand expand_;
    std::set<nodes::TensorId> missing_;
    std::vector<nodes::Node const*> kept_;
    error_t status_;
};

}  // namespace cudnn_frontend::expand
