#include "nodes/validation/execution_order.h"

#include "nodes/schema/schema.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace cudnn_frontend::nodes {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Nodes of one list, and which of them wait for which.
class Dependencies {
   public:
    Dependencies(GraphSpec const& spec, std::vector<Node> const& nodes)
        : producer_(spec.tensors.size(), kNone), consumers_(nodes.size()), missing_(nodes.size(), 0) {
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            for (Node const& node : nodes[n].modifier) add_outputs(node, n);
            add_outputs(nodes[n], n);
        }
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            for (Node const& node : nodes[n].modifier) add_inputs_of_modifier(node, nodes[n], n);
            add_inputs(nodes[n], n);
        }
    }

    // Among the ready nodes the first one goes first, which keeps the user's order wherever possible.
    std::vector<std::size_t> sorted() {
        std::set<std::size_t> ready;
        for (std::size_t n = 0; n < missing_.size(); ++n) {
            if (missing_[n] == 0) ready.insert(n);
        }
        std::vector<std::size_t> order;
        while (!ready.empty()) {
            std::size_t const n = *ready.begin();
            ready.erase(ready.begin());
            order.push_back(n);
            for (std::size_t const consumer : consumers_[n]) {
                if (--missing_[consumer] == 0) ready.insert(consumer);
            }
        }
        return order;
    }

    // Call it after sorted(). Each remaining node waits for at least one other remaining node, or for itself.
    std::vector<std::size_t> cycle() const {
        auto const waits = [&](std::size_t n) { return missing_[n] > 0; };
        std::vector<std::size_t> waits_for(missing_.size(), kNone);
        for (std::size_t n = 0; n < missing_.size(); ++n) {
            for (std::size_t const consumer : consumers_[n]) {
                if (waits(n) && waits(consumer)) waits_for[consumer] = std::min(waits_for[consumer], n);
            }
        }
        std::vector<bool> is_seen(missing_.size(), false);
        std::vector<std::size_t> walk;
        auto node =
            static_cast<std::size_t>(std::ranges::find_if(missing_, [](auto n) { return n > 0; }) - missing_.begin());
        if (node == missing_.size()) return {};
        for (; !is_seen[node]; node = waits_for[node]) {
            is_seen[node] = true;
            walk.push_back(node);
        }
        walk.erase(walk.begin(), std::ranges::find(walk, node));
        walk.push_back(walk.front());
        return walk;
    }

   private:
    void add_outputs(Node const& node, std::size_t n) {
        for_each_port(node, Direction::Output,
                      [&](PortRow const&, TensorId id) { producer_[static_cast<std::size_t>(id)] = n; });
    }

    std::size_t producer_of(TensorId id) const { return producer_[static_cast<std::size_t>(id)]; }

    // In place of its scores attention reads a result of its own modifier.
    void add_inputs(Node const& node, std::size_t n) {
        for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
            if (!row.is_inner || producer_of(id) != n) add_edge(producer_of(id), n);
        });
    }

    // Results of attention exist only after its modifier ran; what attention shows to it, and its own results, before.
    void add_inputs_of_modifier(Node const& node, Node const& attention, std::size_t n) {
        for_each_port(node, Direction::Input, [&](PortRow const&, TensorId id) {
            if (producer_of(id) != n || is_result(attention, id)) add_edge(producer_of(id), n);
        });
    }

    static bool is_result(Node const& node, TensorId tensor) {
        bool is_one = false;
        for_each_port(node, Direction::Output,
                      [&](PortRow const& row, TensorId id) { is_one |= !row.is_inner && id == tensor; });
        return is_one;
    }

    void add_edge(std::size_t from, std::size_t to) {
        if (from == kNone) return;
        consumers_[from].push_back(to);
        ++missing_[to];
    }

    std::vector<std::size_t> producer_;  // by tensor
    std::vector<std::vector<std::size_t>> consumers_;
    std::vector<std::size_t> missing_;  // how many results of others each node waits for
};

}  // namespace

std::vector<std::size_t> execution_order(GraphSpec const& spec) { return execution_order(spec, spec.nodes); }

std::vector<std::size_t> execution_order(GraphSpec const& spec, std::vector<Node> const& nodes) {
    return Dependencies(spec, nodes).sorted();
}

static std::vector<Node const*> find_cycle(GraphSpec const& spec, std::vector<Node> const& nodes) {
    Dependencies dependencies(spec, nodes);
    static_cast<void>(dependencies.sorted());
    std::vector<Node const*> cycle;
    for (std::size_t const n : dependencies.cycle()) cycle.push_back(&nodes[n]);
    return cycle;
}

std::vector<Node const*> find_cycle(GraphSpec const& spec) {
    std::vector<Node const*> cycle = find_cycle(spec, spec.nodes);
    for (Node const& node : spec.nodes) {
        if (cycle.empty() && !node.modifier.empty()) cycle = find_cycle(spec, node.modifier);
    }
    return cycle;
}

void reorder(std::vector<Node>& nodes, std::vector<std::size_t> const& order) {
    std::vector<Node> sorted;
    sorted.reserve(order.size());
    for (std::size_t const n : order) sorted.push_back(std::move(nodes[n]));
    nodes = std::move(sorted);
}

}  // namespace cudnn_frontend::nodes
