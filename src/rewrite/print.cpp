#include "rewrite/print.h"

#include "core/names.h"
#include "nodes/schema/field.h"
#include "nodes/schema/schema.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {
namespace {

constexpr std::int64_t kUsualAlignment = 16;

View view_of(nodes::TensorSpec const& tensor, Attend const& attend) {
    auto const binding = std::ranges::find(attend.bindings, tensor.uid.value(), &Attend::Binding::uid);
    return {binding->place, tensor.data_type, tensor.dim, tensor.stride, tensor.alignment};
}

// Numbers that the graph holds are settings rather than operands.
std::vector<StepOperand> operands_of(Attend const& attend) {
    std::vector<StepOperand> operands;
    nodes::GraphSpec const& graph = attend.graph->spec();
    nodes::Node const& node = graph.nodes.front();
    for (nodes::PortRow const& row : nodes::schema_of(node.kind()).ports) {
        nodes::TensorSpec const* const tensor = graph.tensor(node, row.port);
        if (tensor == nullptr || tensor->value || tensor->is_virtual) continue;
        operands.push_back({row.name, row.direction == nodes::Direction::Output, view_of(*tensor, attend)});
    }
    return operands;
}

std::vector<StepOperand> operands_of(Merge const& merge) {
    std::vector<StepOperand> operands = {
        {"partial O", false, merge.partial_o}, {"partial Stats", false, merge.partial_stats}, {"O", true, merge.o}};
    if (merge.stats) operands.push_back({"Stats", true, *merge.stats});
    if (merge.partial_lengths) operands.push_back({"partial lengths", false, *merge.partial_lengths});
    return operands;
}

std::vector<StepOperand> operands_of(Sum const& sum) {
    return {{"terms", false, sum.terms}, {"result", true, sum.result}};
}

std::vector<StepOperand> operands_of(SplitLengths const& split) {
    return {{"lengths of queries", false, split.queries},
            {"lengths of keys", false, split.keys},
            {"lengths of rows", true, split.rows},
            {"lengths of parts", true, split.part_keys}};
}

std::string heading_of(Attend const& attend) {
    nodes::Node const& node = attend.graph->spec().nodes.front();
    nodes::Node const defaults = nodes::make_node(node.kind());
    return std::string(nodes::schema_of(node.kind()).tag) +
           nodes::settings_text(nodes::schema_of(node.kind()).fields, nodes::fields_object(node),
                                nodes::fields_object(defaults)) +
           (attend.lane == Lane::Side ? ", beside the steps before it" : "");
}

std::string heading_of(Joint const& joint) {
    if (std::holds_alternative<Merge>(joint)) return "merge";
    if (auto const* split = std::get_if<SplitLengths>(&joint)) {
        return "split lengths group=" + std::to_string(split->group) + " chunk=" + std::to_string(split->chunk);
    }
    auto const* sum = std::get_if<Sum>(&joint);
    return sum->accumulates ? "add to the result" : sum->terms.dim.front() == 1 ? "copy" : "sum";
}

}  // namespace

std::vector<StepOperand> operands_of(Step const& step) {
    if (auto const* attend = std::get_if<Attend>(&step)) return operands_of(*attend);
    return std::visit([](auto const& joint) { return operands_of(joint); }, std::get<Joint>(step));
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
