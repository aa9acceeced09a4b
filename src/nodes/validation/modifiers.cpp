#include "nodes/validation/modifiers.h"

#include "nodes/schema/schema.h"
#include "nodes/schema/uses.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace cudnn_frontend::nodes {
namespace {

constexpr std::array kShownPorts = {attention::Score, attention::DScore};
constexpr std::array kReturnedPorts = {attention::ScoreMod, attention::DScoreMod};

std::size_t index_of(TensorId id) { return static_cast<std::size_t>(id); }

// Finds the nodes of one modifier among those of the graph.
class ModifierSearch {
   public:
    // Marks what it finds, and leaves out what earlier searches found.
    ModifierSearch(GraphSpec const& graph, Uses const& uses, std::vector<bool>& is_found)
        : graph_(graph),
          uses_(uses),
          is_found_(is_found),
          is_made_of_scores_(graph.nodes.size(), false),
          readers_left_(graph.tensors.size(), 0) {
        for (std::size_t i = 0; i < uses.size(); ++i) readers_left_[i] = uses[i].readers.size();
    }

    // Indices of the modifier's nodes, in the graph's order.
    std::vector<std::size_t> run(Node const& attention) {
        for (int const port : kShownPorts) {
            TensorId const scores = attention.ports[index_of(port)];
            if (scores != kNoTensor) mark_made_of(scores);
        }
        for (int const port : kReturnedPorts) {
            TensorId const result = attention.ports[index_of(port)];
            if (result == kNoTensor) continue;
            --readers_left_[index_of(result)];
            add_writers(result);
        }
        for (std::size_t next = 0; next < found_.size(); ++next) {
            for_each_port(graph_.nodes[found_[next]], Direction::Input, [&](PortRow const&, TensorId input) {
                --readers_left_[index_of(input)];
                add_writers(input);
            });
        }
        std::ranges::sort(found_);
        return std::move(found_);
    }

   private:
    // Nodes that belong to a modifier already are not in the graph's list.
    bool may_be_found(Node const& node) const {
        bool const is_own = &node >= graph_.nodes.data() && &node < graph_.nodes.data() + graph_.nodes.size();
        return is_own && may_be_of_modifier(node.kind());
    }
    std::size_t place_of(Node const& node) const { return static_cast<std::size_t>(&node - graph_.nodes.data()); }

    void mark_made_of(TensorId scores) {
        std::vector<TensorId> open{scores};
        while (!open.empty()) {
            TensorId const id = open.back();
            open.pop_back();
            for (PortUse const& reader : uses_[index_of(id)].readers) {
                if (!may_be_found(*reader.node) || is_made_of_scores_[place_of(*reader.node)]) continue;
                is_made_of_scores_[place_of(*reader.node)] = true;
                for_each_port(*reader.node, Direction::Output,
                              [&](PortRow const&, TensorId made) { open.push_back(made); });
            }
        }
    }

    // Whether only the modifier reads the tensor, so far as it is known.
    bool is_hidden(TensorId id) const {
        return graph_.tensors[index_of(id)].is_virtual && readers_left_[index_of(id)] == 0;
    }

    // A tensor has one writer; where a faulty graph has more, they stay together.
    void add_writers(TensorId id) {
        for (PortUse const& writer : uses_[index_of(id)].writers) {
            if (!may_be_found(*writer.node) || is_found_[place_of(*writer.node)]) continue;
            bool const is_needed_alone = writer.node->kind() == NodeKind::Pointwise && is_hidden(id);
            if (!is_made_of_scores_[place_of(*writer.node)] && !is_needed_alone) continue;
            is_found_[place_of(*writer.node)] = true;
            found_.push_back(place_of(*writer.node));
        }
    }

    GraphSpec const& graph_;
    Uses const& uses_;
    std::vector<bool>& is_found_;
    std::vector<bool> is_made_of_scores_;
    std::vector<std::size_t> readers_left_;  // by tensor: ports of nodes that are not known to be of the modifier
    std::vector<std::size_t> found_;
};

}  // namespace

bool has_modifier(Node const& node) {
    return attention_fields(node) != nullptr &&
           std::ranges::any_of(kReturnedPorts, [&](int port) { return node.ports[index_of(port)] != kNoTensor; });
}

bool may_be_of_modifier(NodeKind kind) {
    using enum NodeKind;
    return kind == Pointwise || kind == Matmul || kind == Reduction || kind == Slice || kind == Reshape ||
           kind == Transpose;
}

void gather_modifiers(GraphSpec& graph) {
    if (std::ranges::none_of(graph.nodes, has_modifier)) return;
    Uses const uses = uses_of_tensors(graph);
    std::vector<bool> is_found(graph.nodes.size(), false);
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> modifiers;  // by their attention
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        if (!has_modifier(graph.nodes[n])) continue;
        modifiers.emplace_back(n, ModifierSearch(graph, uses, is_found).run(graph.nodes[n]));
    }
    for (auto const& [attention, places] : modifiers) {
        std::vector<Node> nodes;
        for (std::size_t const place : places) nodes.push_back(std::move(graph.nodes[place]));
        std::vector<Node>& modifier = graph.nodes[attention].modifier;
        modifier.insert(modifier.begin(), std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
    }
    std::size_t n = 0;
    std::erase_if(graph.nodes, [&](Node const&) { return is_found[n++]; });
}

void flatten_modifiers(GraphSpec& graph) {
    std::vector<Node> nodes;
    for (Node& node : graph.nodes) {
        std::vector<Node> modifier = std::exchange(node.modifier, {});
        std::ranges::move(modifier, std::back_inserter(nodes));
        nodes.push_back(std::move(node));
    }
    graph.nodes = std::move(nodes);
}

}  // namespace cudnn_frontend::nodes
