#include "api/graph/spec_text.h"

#include "nodes/schema/field.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/modifiers.h"

namespace cudnn_frontend::graph {
namespace {

using nodes::settings_text;

std::string tensor_reference(nodes::GraphSpec const& spec, nodes::TensorId id) {
    std::string const& name = spec.tensors[static_cast<std::size_t>(id)].name;
    return "%" + std::to_string(id) + (name.empty() ? "" : " " + name);
}

std::string connections(nodes::GraphSpec const& spec, nodes::Node const& node, nodes::Direction direction) {
    std::string text;
    for (nodes::PortRow const& row : nodes::schema_of(node.kind()).ports) {
        nodes::TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
        if (row.direction != direction || id == nodes::kNoTensor) continue;
        if (!text.empty()) text += ", ";
        text += std::string(row.name) + ": " + tensor_reference(spec, id);
    }
    return text;
}

std::string node_line(char const* word, nodes::GraphSpec const& spec, nodes::Node const& node) {
    nodes::Node const defaults = nodes::make_node(node.kind());
    nodes::NodeSchema const& schema = nodes::schema_of(node.kind());
    return std::string(word) + " " + schema.tag + (node.name.empty() ? "" : " '" + node.name + "'") + " (" +
           connections(spec, node, nodes::Direction::Input) + ") -> (" +
           connections(spec, node, nodes::Direction::Output) + ")" +
           settings_text(schema.fields, nodes::fields_object(node), nodes::fields_object(defaults)) + "\n";
}

}  // namespace

std::string to_text(nodes::GraphSpec spec) {
    nodes::gather_modifiers(spec);
    nodes::GraphSpec const no_settings;
    nodes::TensorSpec const no_tensor;
    std::string text = "graph" + (spec.name.empty() ? "" : " '" + spec.name + "'") +
                       settings_text(nodes::graph_fields(), &spec, &no_settings) + "\n";
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        text += "tensor " + tensor_reference(spec, static_cast<nodes::TensorId>(i)) +
                settings_text(nodes::tensor_fields(), &spec.tensors[i], &no_tensor) + "\n";
    }
    for (nodes::Node const& node : spec.nodes) {
        text += node_line("node", spec, node);
        for (nodes::Node const& step : node.modifier) text += node_line("  modifier", spec, step);
    }
    return text;
}

}  // namespace cudnn_frontend::graph
