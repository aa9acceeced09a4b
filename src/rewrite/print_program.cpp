#include "rewrite/program.h"

#include "core/names.h"
#include "nodes/schema/field.h"
#include "nodes/schema/schema.h"

#include <algorithm>
#include <set>

namespace cudnn_frontend::rewrite {
namespace {

constexpr std::int64_t kUsualAlignment = 16;

View view_of(nodes::TensorSpec const& tensor, Attend const& attend) {
    auto const binding = std::ranges::find(attend.bindings, tensor.uid.value(), &Attend::TensorBinding::uid);
    return {binding->place, tensor.data_type, tensor.dim, tensor.stride, tensor.alignment};
}

// All other nodes are those of modifiers, and may be in front of it.
nodes::Node const& attention_in(nodes::GraphSpec const& graph) {
    return *std::ranges::find_if(graph.nodes,
                                 [](nodes::Node const& node) { return node.kind() != nodes::NodeKind::Pointwise; });
}

void add_operands_of_modifiers(std::vector<StepOperand>& operands, Attend const& attend) {
    nodes::GraphSpec const& graph = attend.graph->spec();
    std::set<nodes::TensorId> known;
    for (nodes::Node const& node : every_node(graph)) {
        if (node.kind() != nodes::NodeKind::Pointwise) continue;
        nodes::for_each_port(node, nodes::Direction::Input, [&](nodes::PortRow const&, nodes::TensorId id) {
            nodes::TensorSpec const& tensor = graph.tensors[static_cast<std::size_t>(id)];
            bool const is_read = !tensor.value && !tensor.is_virtual && known.insert(id).second;
            if (is_read) operands.push_back({tensor.name, false, view_of(tensor, attend)});
        });
    }
}

// Numbers that the graph holds are settings rather than operands.
std::vector<StepOperand> operands_of_attend(Attend const& attend) {
    std::vector<StepOperand> operands;
    nodes::GraphSpec const& graph = attend.graph->spec();
    nodes::Node const& node = attention_in(graph);
    for (nodes::PortRow const& row : nodes::schema_of(node.kind()).ports) {
        nodes::TensorSpec const* const tensor = graph.tensor(node, row.port);
        if (tensor == nullptr || tensor->value || tensor->is_virtual) continue;
        operands.push_back({row.name, row.direction == nodes::Direction::Output, view_of(*tensor, attend)});
    }
    add_operands_of_modifiers(operands, attend);
    return operands;
}

std::string heading_of(Attend const& attend) {
    nodes::Node const& node = attention_in(attend.graph->spec());
    nodes::Node const defaults = nodes::make_node(node.kind());
    auto const modifiers = std::ranges::distance(every_node(attend.graph->spec())) - 1;
    return std::string(nodes::schema_of(node.kind()).tag) +
           nodes::settings_text(nodes::schema_of(node.kind()).fields, nodes::fields_object(node),
                                nodes::fields_object(defaults)) +
           (modifiers == 0 ? "" : ", scores modified by " + std::to_string(modifiers) + " operations") +
           (attend.lane == Lane::Side ? ", in parallel to the steps before it" : "");
}

std::string heading_of(Joint const& joint) {
    std::string const name = name_of(joint);
    if (auto const* split = std::get_if<SplitLengths>(&joint)) {
        std::string const numbers = " group=" + std::to_string(split->group) + " chunk=" + std::to_string(split->chunk);
        bool const is_of_part = split->most_queries != SplitLengths().most_queries;
        if (!is_of_part) return name + numbers;
        return name + numbers + " queries=" + std::to_string(split->first_query) + "+" +
               std::to_string(split->most_queries) + " first_key=" + std::to_string(split->first_key);
    }
    if (auto const* tables = std::get_if<SlotTables>(&joint)) {
        bool const has_heads = tables->slots_of_sequence > 1;
        return name + (has_heads ? " heads=" + std::to_string(tables->slots_of_sequence) : "");
    }
    if (auto const* tables = std::get_if<DocumentTables>(&joint)) {
        auto const span = [](DocumentTables::Side const& side) {
            return std::to_string(side.first) + "+" + std::to_string(side.end - side.first);
        };
        return name + " queries=" + span(tables->queries) + " keys=" + span(tables->keys);
    }
    auto const* sum = std::get_if<Sum>(&joint);
    if (sum != nullptr && sum->accumulates) return "add to the result";
    return sum != nullptr && sum->terms.dim.front() == 1 ? "copy" : name;
}

std::string heading_of(Exchange const& exchange) { return "start the exchange of " + exchange.pieces->content; }
std::string heading_of(Await const& await) { return "finish the exchange of " + await.pieces->content; }

}  // namespace

std::vector<StepOperand> operands_of(Step const& step) {
    if (auto const* attend = std::get_if<Attend>(&step)) return operands_of_attend(*attend);
    if (auto const* exchange = std::get_if<Exchange>(&step)) return operands_of(*exchange);
    if (auto const* await = std::get_if<Await>(&step)) return operands_of(*await);
    return operands_of(std::get<Joint>(step));
}

std::string heading_of(Step const& step) {
    return std::visit([](auto const& kind) { return heading_of(kind); }, step);
}

std::string name_of(Place const& place, nodes::GraphSpec const& graph) {
    std::string const name =
        place.of == Place::Of::Tensor ? graph.tensors[place.index].name : "scratch " + std::to_string(place.index);
    return place.offset == 0 ? name : name + " + " + std::to_string(place.offset);
}

std::string shape_of(View const& view) {
    std::string text = core::to_string(view.dim) + " " + std::string(core::name_of(view.type));
    if (view.stride != core::packed_strides(view.dim)) text += " strides " + core::to_string(view.stride);
    if (view.alignment < kUsualAlignment) text += " aligned to " + std::to_string(view.alignment);
    return text;
}

std::string to_text(Program const& program, nodes::GraphSpec const& graph) {
    std::string text = "program " + program.name + "\n";
    for (std::size_t i = 0; i < program.scratch.size(); ++i) {
        text += "scratch " + std::to_string(i) + ": " + std::to_string(program.scratch[i]) + " bytes\n";
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        text += std::to_string(i + 1) + ". " + heading_of(program.steps[i]) + "\n";
        for (StepOperand const& operand : operands_of(program.steps[i])) {
            text += std::string(operand.is_written ? "   writes " : "   reads ") + operand.role + ": " +
                    name_of(operand.view.place, graph) + " " + shape_of(operand.view) + "\n";
        }
    }
    return text;
}

}  // namespace cudnn_frontend::rewrite
