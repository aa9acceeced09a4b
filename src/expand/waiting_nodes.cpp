#include "expand/waiting_nodes.h"

#include "nodes/schema.h"

#include <utility>

namespace cudnn_frontend::inline v1::expand {

using nodes::Direction;
using nodes::Node;
using nodes::PortRow;
using nodes::TensorId;

// Calls visit(row, tensor id) for each connected port of a direction.
template <class Visit>
static void for_each_port(Node const& node, Direction direction, Visit const& visit) {
    for (PortRow const& row : nodes::schema_of(node.kind()).ports) {
        TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
        if (row.direction == direction && id != nodes::kNoTensor) visit(row, id);
    }
}

WaitingNodes::WaitingNodes(nodes::GraphSpec const& spec, Expand expand) : expand_(std::move(expand)) {
    for (Node const& node : spec.nodes) {
        for_each_port(node, Direction::Output, [&](PortRow const& row, TensorId id) {
            if (row.is_inner()) missing_.insert(id);
        });
    }
}

bool WaitingNodes::waits(Node const& node) const {
    bool is_missing = false;
    for_each_port(node, Direction::Input,
                  [&](PortRow const& row, TensorId id) { is_missing |= !row.is_inner() && missing_.contains(id); });
    return is_missing;
}

void WaitingNodes::set_outputs(Node const& node, bool are_made) {
    for_each_port(node, Direction::Output, [&](PortRow const&, TensorId id) {
        if (are_made) missing_.erase(id);
        else missing_.insert(id);
    });
}

bool WaitingNodes::keeps(Node const& node) {
    if (!waits(node)) return false;
    set_outputs(node, false);
    kept_.push_back(&node);
    return true;
}

void WaitingNodes::release(TensorId tensor) {
    missing_.erase(tensor);
    std::vector<Node const*> still;
    for (Node const* const node : std::exchange(kept_, {})) {
        if (waits(*node)) {
            still.push_back(node);
            continue;
        }
        if (status_.is_good()) status_ = expand_(*node);
        set_outputs(*node, true);
    }
    kept_ = std::move(still);
}

}  // namespace cudnn_frontend::inline v1::expand
