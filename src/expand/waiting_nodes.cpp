#include "expand/waiting_nodes.h"

#include "nodes/schema.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::expand {

using nodes::Direction;
using nodes::for_each_port;
using nodes::Node;
using nodes::PortRow;
using nodes::TensorId;

WaitingNodes::WaitingNodes(nodes::GraphSpec const& spec, Expand expand) : expand_(std::move(expand)) {
    for (Node const& node : spec.nodes) {
        for_each_port(node, Direction::Output, [&](PortRow const& row, TensorId id) {
            if (row.is_inner()) missing_.insert(id);
        });
    }
}

static bool makes(Node const& node, TensorId tensor) {
    bool is_made = false;
    for_each_port(node, Direction::Output, [&](PortRow const&, TensorId id) { is_made |= id == tensor; });
    return is_made;
}

// Whether the tensor, made by the node's own modifiers, waits for what another node makes on its way.
bool WaitingNodes::is_missing_elsewhere(TensorId tensor, Node const& node) const {
    std::set<TensorId> seen{tensor};
    std::vector<TensorId> open{tensor};
    while (!open.empty()) {
        TensorId const id = open.back();
        open.pop_back();
        if (!missing_.contains(id) || makes(node, id)) continue;
        auto const maker = std::ranges::find_if(kept_, [&](Node const* kept) { return makes(*kept, id); });
        if (maker == kept_.end()) return true;
        for_each_port(**maker, Direction::Input, [&](PortRow const&, TensorId input) {
            if (seen.insert(input).second) open.push_back(input);
        });
    }
    return false;
}

bool WaitingNodes::waits(Node const& node) const {
    bool is_missing = false;
    for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
        is_missing |= row.is_inner() ? is_missing_elsewhere(id, node) : missing_.contains(id);
    });
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
    // An expansion can release others in turn: the list is looked at anew after each.
    for (;;) {
        auto const ready = std::ranges::find_if(kept_, [&](Node const* node) { return !waits(*node); });
        if (ready == kept_.end()) return;
        Node const& node = **ready;
        kept_.erase(ready);
        if (status_.is_good()) status_ = expand_(node);
        set_outputs(node, true);
    }
}

}  // namespace cudnn_frontend::expand
