#include "expand/modifier_nodes.h"

#include "nodes/schema/schema.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::expand {

using nodes::Direction;
using nodes::for_each_port;
using nodes::Node;
using nodes::PortRow;
using nodes::TensorId;

InterleavedNodes::InterleavedNodes(Node const& attention, ModifierNodes nodes, Expand expand)
    : waiting_(std::move(nodes)), expand_(std::move(expand)) {
    for_each_port(attention, Direction::Output, [&](PortRow const& row, TensorId id) {
        if (row.is_inner) missing_.insert(id);
    });
    for (Node const* const node : waiting_) {
        for_each_port(*node, Direction::Output, [&](PortRow const&, TensorId id) { missing_.insert(id); });
    }
    add_ready();
}

void InterleavedNodes::show(TensorId tensor) {
    missing_.erase(tensor);
    add_ready();
}

// The nodes are in an order in which they can run: one pass finds all.
void InterleavedNodes::add_ready() {
    ModifierNodes left;
    for (Node const* const node : waiting_) {
        bool waits = false;
        for_each_port(*node, Direction::Input, [&](PortRow const&, TensorId id) { waits |= missing_.contains(id); });
        if (waits) {
            left.push_back(node);
            continue;
        }
        expand_(*node);
        for_each_port(*node, Direction::Output, [&](PortRow const&, TensorId id) { missing_.erase(id); });
    }
    waiting_ = std::move(left);
}

}  // namespace cudnn_frontend::expand
