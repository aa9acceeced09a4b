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

// Whether the tensor, made by the node's own modifiers, waits for an intermediate result of another node.
bool WaitingNodes::is_missing_elsewhere(TensorId tensor, Node const& node) const {
    std::set<TensorId> seen{tensor};
    std::vector<TensorId> open{tensor};
    while (!open.empty()) {
        TensorId const id = open.back();
        open.pop_back();
        if (!missing_.contains(id) || makes(node, id)) continue;
        auto const maker = makers_.find(id);
        if (maker == makers_.end()) return true;
        for_each_port(*kept_[maker->second].node, Direction::Input, [&](PortRow const&, TensorId input) {
            if (seen.insert(input).second) open.push_back(input);
        });
    }
    return false;
}

std::size_t WaitingNodes::count_missing(Node const& node) const {
    std::size_t count = 0;
    for_each_port(node, Direction::Input,
                  [&](PortRow const& row, TensorId id) { count += !row.is_inner() && missing_.contains(id) ? 1 : 0; });
    return count;
}

bool WaitingNodes::waits_for_modifiers(Node const& node) const {
    bool is_missing = false;
    for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
        is_missing |= row.is_inner() && is_missing_elsewhere(id, node);
    });
    return is_missing;
}

void WaitingNodes::keep(Node const& node) {
    std::size_t const index = kept_.size();
    kept_.push_back({&node, count_missing(node)});
    for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
        if (!row.is_inner() && missing_.contains(id)) waiting_for_[id].push_back(index);
    });
    for_each_port(node, Direction::Output, [&](PortRow const&, TensorId id) {
        missing_.insert(id);
        makers_[id] = index;
    });
    if (kept_.back().missing == 0) complete_.insert(index);
}

bool WaitingNodes::keeps(Node const& node) {
    if (count_missing(node) == 0 && !waits_for_modifiers(node)) return false;
    keep(node);
    return true;
}

void WaitingNodes::mark_made(TensorId tensor) {
    if (missing_.erase(tensor) == 0) return;
    auto const waiting = waiting_for_.extract(tensor);
    if (waiting.empty()) return;
    for (std::size_t const index : waiting.mapped()) {
        if (--kept_[index].missing == 0) complete_.insert(index);
    }
}

// The first that was kept; the end where all that are complete wait for their modifiers.
std::set<std::size_t>::iterator WaitingNodes::find_ready() {
    return std::ranges::find_if(complete_, [&](std::size_t index) { return !waits_for_modifiers(*kept_[index].node); });
}

void WaitingNodes::release(TensorId tensor) {
    mark_made(tensor);
    // An expansion can release others in turn: ready nodes are looked for anew after each.
    for (auto ready = find_ready(); ready != complete_.end(); ready = find_ready()) {
        Node const& node = *kept_[*ready].node;
        complete_.erase(ready);
        for_each_port(node, Direction::Output, [&](PortRow const&, TensorId id) { makers_.erase(id); });
        if (status_.is_good()) status_ = expand_(node);
        for_each_port(node, Direction::Output, [&](PortRow const&, TensorId id) { mark_made(id); });
    }
}

}  // namespace cudnn_frontend::expand
