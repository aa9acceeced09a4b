#include "nodes/validation/execution_order.h"

#include "nodes/schema/schema.h"

#include <algorithm>
#include <limits>
#include <set>

namespace cudnn_frontend::nodes {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class StepGraph {
   public:
    explicit StepGraph(GraphSpec const& spec) : producer_(spec.tensors.size(), kNone) {
        for (std::size_t n = 0; n < spec.nodes.size(); ++n) add_steps(spec.nodes[n], n);
        consumers_.resize(steps_.size());
        missing_.resize(steps_.size(), 0);
        for (std::size_t s = 0; s < steps_.size(); ++s) add_inputs(spec.nodes[steps_[s].node], s);
    }

    // Among the ready steps the one added first goes first, which keeps the user's order wherever possible.
    std::vector<NodeRound> sorted() {
        std::set<std::size_t> ready;
        for (std::size_t s = 0; s < steps_.size(); ++s) {
            if (missing_[s] == 0) ready.insert(s);
        }
        std::vector<NodeRound> order;
        while (!ready.empty()) {
            std::size_t const s = *ready.begin();
            ready.erase(ready.begin());
            order.push_back(steps_[s]);
            for (std::size_t const consumer : consumers_[s]) {
                if (--missing_[consumer] == 0) ready.insert(consumer);
            }
        }
        return order;
    }

    // Call it after sorted(). Each remaining step waits for at least one other remaining step.
    std::vector<std::size_t> nodes_of_cycle() const {
        auto const waits = [&](std::size_t s) { return missing_[s] > 0; };
        std::vector<std::size_t> waits_for(steps_.size(), kNone);
        for (std::size_t s = 0; s < steps_.size(); ++s) {
            for (std::size_t const consumer : consumers_[s]) {
                if (waits(s) && waits(consumer)) waits_for[consumer] = std::min(waits_for[consumer], s);
            }
        }
        std::vector<bool> is_seen(steps_.size(), false);
        std::vector<std::size_t> walk;
        auto step =
            static_cast<std::size_t>(std::ranges::find_if(missing_, [](auto n) { return n > 0; }) - missing_.begin());
        if (step == steps_.size()) return {};
        for (; !is_seen[step]; step = waits_for[step]) {
            is_seen[step] = true;
            walk.push_back(step);
        }
        walk.erase(walk.begin(), std::ranges::find(walk, step));
        std::vector<std::size_t> nodes;
        for (std::size_t const of_cycle : walk) {
            if (nodes.empty() || steps_[of_cycle].node != nodes.back()) nodes.push_back(steps_[of_cycle].node);
        }
        if (nodes.back() != nodes.front() || nodes.size() == 1) nodes.push_back(nodes.front());
        return nodes;
    }

   private:
    // One step for each round that produces something, and the last.
    void add_steps(Node const& node, std::size_t n) {
        for (int round = kFirstRound; round <= kLastRound; ++round) {
            bool is_needed = round == kLastRound;
            for_each_port(node, Direction::Output, [&](PortRow const& row, TensorId id) {
                if (row.round != round) return;
                producer_[static_cast<std::size_t>(id)] = steps_.size();
                is_needed = true;
            });
            if (is_needed) steps_.push_back({n, round});
        }
    }

    void add_inputs(Node const& node, std::size_t s) {
        bool const is_first = s == 0 || steps_[s - 1].node != steps_[s].node;
        if (!is_first) add_edge(s - 1, s);
        int const after = is_first ? -1 : steps_[s - 1].round;
        for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
            if (row.round > after && row.round <= steps_[s].round) add_edge(producer_[static_cast<std::size_t>(id)], s);
        });
    }

    void add_edge(std::size_t from, std::size_t to) {
        if (from == kNone) return;
        consumers_[from].push_back(to);
        ++missing_[to];
    }

    std::vector<NodeRound> steps_;
    std::vector<std::size_t> producer_;  // by tensor: the step that produces it
    std::vector<std::vector<std::size_t>> consumers_;
    std::vector<std::size_t> missing_;
};

}  // namespace

std::vector<NodeRound> execution_order(GraphSpec const& spec) { return StepGraph(spec).sorted(); }

std::vector<std::size_t> find_cycle(GraphSpec const& spec) {
    StepGraph graph(spec);
    static_cast<void>(graph.sorted());
    return graph.nodes_of_cycle();
}

std::vector<std::size_t> finished_nodes(std::vector<NodeRound> const& order) {
    std::vector<std::size_t> nodes;
    for (NodeRound const& step : order) {
        if (step.round == kLastRound) nodes.push_back(step.node);
    }
    return nodes;
}

}  // namespace cudnn_frontend::nodes
