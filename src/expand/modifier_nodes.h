// The operations of score modifiers: inside attention as one operation, or between attention's own operations.
#pragma once

#include "ir/op_graph.h"
#include "nodes/schema/graph_spec.h"
#include "nodes/schema/uses.h"

#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace cudnn_frontend::expand {

class NodeScope;

// Nodes of a modifier, each after those that it reads.
using ModifierNodes = std::vector<nodes::Node const*>;
ModifierNodes nodes_of_modifier(nodes::Node const& attention);

// The nodes of a modifier that can be steps of attention as one operation: all that read scores or make a number for
// each of them. Rows and columns are computed before it, once. Nothing where the modifier has other operations, or
// where other nodes read scores.
std::optional<ModifierNodes> steps_of_region(nodes::GraphSpec const& graph, nodes::Uses const& uses,
                                             nodes::Node const& attention);

// The region of these steps. Tensors that it reads become values.
ir::ScoreRegion make_region(NodeScope& attention, ModifierNodes const& steps);

// Adds nodes of a modifier to the op graph between the operations of attention, each as soon as its operands are made.
class InterleavedNodes {
   public:
    using Expand = std::function<void(nodes::Node const&)>;
    // Adds those that need nothing that attention makes.
    InterleavedNodes(nodes::Node const& attention, ModifierNodes nodes, Expand expand);

    // Attention made what it shows to the modifier: adds what waited for nothing else.
    void show(nodes::TensorId tensor);

   private:
    void add_ready();

    ModifierNodes waiting_;
    std::set<nodes::TensorId> missing_;  // what attention shows, and the results of the waiting nodes
    Expand expand_;
};

}  // namespace cudnn_frontend::expand
