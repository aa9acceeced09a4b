#include "expand/modifier_nodes.h"

#include "expand/node_expansions.h"
#include "expand/scope.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/schema.h"

#include <algorithm>
#include <array>
#include <map>

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

class RegionSearch {
   public:
    RegionSearch(nodes::GraphSpec const& graph, nodes::Uses const& uses, Node const& attention)
        : graph_(graph), uses_(uses), attention_(attention), scores_(nodes::score_dims(graph, attention)) {}

    std::optional<ModifierNodes> run() {
        mark_made_of_scores();
        for (Node const& node : attention_.modifier) {
            if (made_of_scores_.contains(result_of(node)) || is_large(tensor(result_of(node)))) steps_.push_back(&node);
        }
        if (steps_.size() > kMostSteps || !hides_scores()) return std::nullopt;
        bool const are_steps = std::ranges::all_of(steps_, [&](Node const* node) { return can_be_step(*node); });
        return are_steps ? std::optional(std::move(steps_)) : std::nullopt;
    }

   private:
    static constexpr std::size_t kMostSteps = 256;

    nodes::TensorSpec const& tensor(TensorId id) const { return graph_.tensors[index_of(id)]; }

    static TensorId result_of(Node const& node) {
        TensorId result = kNoTensor;
        for_each_port(node, nodes::Direction::Output, [&](PortRow const&, TensorId id) { result = id; });
        return result;
    }

    void mark_made_of_scores() {
        for (int const port : {Port::Score, Port::DScore}) made_of_scores_.insert(tensor_at(attention_, port));
        made_of_scores_.erase(kNoTensor);
        for (Node const& node : attention_.modifier) {
            bool reads_one = false;
            for_each_port(node, nodes::Direction::Input,
                          [&](PortRow const&, TensorId id) { reads_one |= made_of_scores_.contains(id); });
            if (reads_one) made_of_scores_.insert(result_of(node));
        }
    }

    // Whether it has an element for each pair of a query and a key: in memory it would be as large as the scores.
    bool is_large(nodes::TensorSpec const& made) const {
        return made.dim.size() == 4 && made.dim[2] == scores_[2] && made.dim[3] == scores_[3];
    }

    bool hides_scores() const {
        return std::ranges::all_of(std::array{Port::Score, Port::DScore}, [&](int port) {
            return tensor_at(attention_, port) == kNoTensor || is_hidden(tensor_at(attention_, port));
        });
    }

    // Whether only steps and attention read the tensor.
    bool is_hidden(TensorId id) const {
        return tensor(id).is_virtual && std::ranges::all_of(uses_[index_of(id)].readers, [&](auto const& reader) {
                   if (reader.node == &attention_) return reader.port->is_inner;
                   return std::ranges::find(steps_, reader.node) != steps_.end();
               });
    }

    bool can_be_step(Node const& node) const {
        if (node.kind() != nodes::NodeKind::Pointwise) return false;
        bool is_dense = true;
        for_each_port(node, nodes::Direction::Input, [&](PortRow const&, TensorId input) {
            is_dense = is_dense && tensor(input).ragged_offset == kNoTensor && tensor(input).dim.size() <= 4 &&
                       core::broadcasts_to(tensor(input).dim, scores_);
        });
        return is_dense && is_hidden(result_of(node));
    }

    nodes::GraphSpec const& graph_;
    nodes::Uses const& uses_;
    Node const& attention_;
    core::Dims scores_;
    std::set<TensorId> made_of_scores_;
    ModifierNodes steps_;
};

}  // namespace

ModifierNodes nodes_of_modifier(Node const& attention) {
    ModifierNodes nodes;
    for (Node const& node : attention.modifier) nodes.push_back(&node);
    return nodes;
}

std::optional<ModifierNodes> steps_of_region(nodes::GraphSpec const& graph, nodes::Uses const& uses,
                                             Node const& attention) {
    return RegionSearch(graph, uses, attention).run();
}

ir::ScoreRegion make_region(NodeScope& attention, ModifierNodes const& steps) {
    using enum ir::RegionOperand::From;
    std::map<TensorId, ir::RegionOperand> made{{tensor_at(attention.node(), Port::Score), {Score}}};
    if (attention.is_connected(Port::DScore)) made[tensor_at(attention.node(), Port::DScore)] = {Gradient};
    auto const operand = [&](TensorId id) {
        if (id == kNoTensor) return ir::RegionOperand();
        auto const known = made.find(id);
        return known != made.end() ? known->second : ir::RegionOperand{Value, attention.value_of(id)};
    };
    ir::ScoreRegion region;
    for (Node const* const node : steps) {
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
