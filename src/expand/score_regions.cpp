#include "expand/modifier_nodes.h"

#include "expand/node_expansions.h"
#include "expand/scope.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/uses.h"

#include <algorithm>

namespace cudnn_frontend::expand {

using nodes::for_each_port;
using nodes::kNoTensor;
using nodes::Node;
using nodes::PortRow;
using nodes::TensorId;
using nodes::attention::Port;

namespace {

std::size_t index_of(TensorId id) { return static_cast<std::size_t>(id); }
TensorId tensor_at(Node const& node, int port) { return node.ports[index_of(port)]; }

// Finds the nodes of one modifier.
class RegionSearch {
   public:
    RegionSearch(nodes::GraphSpec const& graph, nodes::Uses const& uses, Node const& attention)
        : graph_(graph), uses_(uses), attention_(attention), scores_(nodes::score_dims(graph, attention)) {}

    // Nothing where other operations read scores, or make the result.
    std::optional<RegionNodes> run() {
        for (int const port : {Port::Score, Port::DScore}) {
            if (tensor_at(attention_, port) != kNoTensor) mark_made_of_scores(tensor_at(attention_, port));
        }
        for (int const port : {Port::ScoreMod, Port::DScoreMod}) {
            if (tensor_at(attention_, port) != kNoTensor) collect(tensor_at(attention_, port));
        }
        if (nodes_.size() > kMostSteps) return std::nullopt;
        leave_out_shared();
        if (!std::ranges::all_of(of_scores_, [&](Node const* node) { return has(node); })) return std::nullopt;
        bool const are_inner = std::ranges::all_of(nodes_, [&](Node const* node) { return is_inner(*node); });
        bool const hides_scores =
            is_hidden(tensor_at(attention_, Port::Score)) &&
            (tensor_at(attention_, Port::DScore) == kNoTensor || is_hidden(tensor_at(attention_, Port::DScore)));
        if (!are_inner || !hides_scores) return std::nullopt;
        return nodes_;
    }

   private:
    static constexpr std::size_t kMostSteps = 256;

    nodes::TensorSpec const& tensor(TensorId id) const { return graph_.tensors[index_of(id)]; }
    bool has(Node const* node) const { return std::ranges::find(nodes_, node) != nodes_.end(); }
    Node const* maker_of(TensorId id) const {
        auto const& writers = uses_[index_of(id)].writers;
        return writers.empty() || writers.front().node == &attention_ ? nullptr : writers.front().node;
    }

    // All nodes that depend on the tensor, except attention.
    void mark_made_of_scores(TensorId scores) {
        std::vector<TensorId> open{scores};
        while (!open.empty()) {
            TensorId const id = open.back();
            open.pop_back();
            for (nodes::PortUse const& reader : uses_[index_of(id)].readers) {
                if (reader.node == &attention_ || !of_scores_.insert(reader.node).second) continue;
                for_each_port(*reader.node, nodes::Direction::Output,
                              [&](PortRow const&, TensorId made) { open.push_back(made); });
            }
        }
    }

    // The pointwise nodes that make the tensor of scores, or of a number for each score. The graph's nodes are in an
    // order in which they can run.
    void collect(TensorId result) {
        std::vector<TensorId> open{result};
        while (!open.empty() && nodes_.size() <= kMostSteps) {
            TensorId const id = open.back();
            open.pop_back();
            Node const* const maker = maker_of(id);
            if (maker == nullptr || has(maker) || maker->kind() != nodes::NodeKind::Pointwise) continue;
            if (!of_scores_.contains(maker) && !is_large(tensor(id))) continue;
            for_each_port(*maker, nodes::Direction::Input,
                          [&](PortRow const&, TensorId input) { open.push_back(input); });
            nodes_.push_back(maker);
        }
        std::ranges::sort(nodes_);
    }

    // Rows and columns are computed once, outside; what has an element for each pair would be as large as the scores.
    bool is_large(nodes::TensorSpec const& made) const {
        return made.dim.size() == 4 && made.dim[2] == scores_[2] && made.dim[3] == scores_[3];
    }

    // Whether only the region's nodes and attention read the tensor.
    bool is_hidden(TensorId id) const {
        return tensor(id).is_virtual && std::ranges::all_of(uses_[index_of(id)].readers, [&](auto const& reader) {
                   return reader.node == &attention_ ? reader.port->is_inner() : has(reader.node);
               });
    }

    // Nodes that other nodes need too, and that know nothing of scores, are computed outside.
    void leave_out_shared() {
        auto const is_shared = [&](Node const* node) {
            return !of_scores_.contains(node) && !is_hidden(tensor_at(*node, nodes::pointwise::Out0));
        };
        while (std::erase_if(nodes_, is_shared) > 0) {
        }
    }

    bool is_inner(Node const& node) const {
        bool is_dense = true;
        for_each_port(node, nodes::Direction::Input, [&](PortRow const&, TensorId input) {
            is_dense = is_dense && tensor(input).ragged_offset == kNoTensor && tensor(input).dim.size() <= 4 &&
                       core::broadcasts_to(tensor(input).dim, scores_);
        });
        return is_dense && is_hidden(tensor_at(node, nodes::pointwise::Out0));
    }

    nodes::GraphSpec const& graph_;
    nodes::Uses const& uses_;
    Node const& attention_;
    core::Dims scores_;
    std::set<Node const*> of_scores_;
    RegionNodes nodes_;
};

bool has_modifier(Node const& node) {
    return nodes::attention_fields(node) != nullptr && tensor_at(node, Port::Score) != kNoTensor;
}

}  // namespace

ScoreRegions ScoreRegions::of_graph(nodes::GraphSpec const& graph, bool (*may_be_fused)(Node const& attention)) {
    ScoreRegions all;
    if (std::ranges::none_of(graph.nodes, has_modifier)) return all;
    nodes::Uses const uses = nodes::uses_of_tensors(graph);
    for (Node const& node : graph.nodes) {
        if (!has_modifier(node)) continue;
        std::optional<RegionNodes> found;
        if (may_be_fused(node)) found = RegionSearch(graph, uses, node).run();
        if (!found) return {};
        all.steps_.insert(found->begin(), found->end());
        all.regions_.emplace(&node, std::move(*found));
    }
    return all;
}

RegionNodes const* ScoreRegions::find(Node const& attention) const {
    auto const found = regions_.find(&attention);
    return found == regions_.end() ? nullptr : &found->second;
}

ir::ScoreRegion make_region(NodeScope& attention, RegionNodes const& nodes) {
    using enum ir::RegionOperand::From;
    std::map<TensorId, ir::RegionOperand> made{{tensor_at(attention.node(), Port::Score), {Score}}};
    if (attention.is_connected(Port::DScore)) made[tensor_at(attention.node(), Port::DScore)] = {Gradient};
    auto const operand = [&](TensorId id) {
        if (id == kNoTensor) return ir::RegionOperand();
        auto const known = made.find(id);
        return known != made.end() ? known->second : ir::RegionOperand{Value, attention.value_of(id)};
    };
    ir::ScoreRegion region;
    for (Node const* const node : nodes) {
        TensorId const result = tensor_at(*node, nodes::pointwise::Out0);
        region.steps.push_back(
            {function_of(std::get<nodes::PointwiseFields>(node->fields)),
             attention.graph().tensors[index_of(result)].data_type,
             {operand(tensor_at(*node, nodes::pointwise::In0)), operand(tensor_at(*node, nodes::pointwise::In1)),
              operand(tensor_at(*node, nodes::pointwise::In2))}});
        made[result] = {Step, static_cast<std::int32_t>(region.steps.size()) - 1};
    }
    region.score = operand(tensor_at(attention.node(), Port::ScoreMod));
    region.gradient = operand(tensor_at(attention.node(), Port::DScoreMod));
    return region;
}

}  // namespace cudnn_frontend::expand
