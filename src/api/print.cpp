#include "api/print.h"

#include "core/data_type.h"
#include "core/number_text.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::graph {
namespace {

using nodes::Field;
using nodes::FieldValue;

// A value that a float holds prints as that float.
std::string number(double value) {
    auto const narrow = static_cast<float>(value);
    return static_cast<double>(narrow) == value ? core::shortest_text(narrow) : core::shortest_text(value);
}

struct ToText {
    Field const& field;

    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const {
        if (field.enumerators == nullptr) return std::to_string(value);
        auto const names = field.enumerators();
        auto const index = static_cast<std::size_t>(value);
        return index < names.size() ? names[index] : "?";
    }
    std::string operator()(double value) const { return number(value); }
    std::string operator()(std::string const& value) const { return value; }
    std::string operator()(core::Dims const& value) const { return core::to_string(value); }
    std::string operator()(detail::Scalar const& value) const { return number(core::to_double(value)); }
};

// " name=value" for each field that differs from a default object's.
std::string settings(std::span<Field const> fields, void const* object, void const* defaults) {
    std::string text;
    for (Field const& field : fields) {
        FieldValue const value = field.get(object);
        if (field.is_label || value == field.get(defaults)) continue;
        text += std::string(" ") + field.name + "=" + std::visit(ToText{field}, value);
    }
    return text;
}

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

std::string node_line(nodes::GraphSpec const& spec, nodes::Node const& node) {
    nodes::Node const defaults = nodes::make_node(node.kind());
    nodes::NodeSchema const& schema = nodes::schema_of(node.kind());
    return std::string("node ") + schema.tag + (node.name.empty() ? "" : " '" + node.name + "'") + " (" +
           connections(spec, node, nodes::Direction::Input) + ") -> (" +
           connections(spec, node, nodes::Direction::Output) + ")" +
           settings(schema.fields, nodes::fields_object(node), nodes::fields_object(defaults)) + "\n";
}

}  // namespace

std::string to_text(nodes::GraphSpec const& spec) {
    nodes::GraphSpec const no_settings;
    nodes::TensorSpec const no_tensor;
    std::string text = "graph" + (spec.name.empty() ? "" : " '" + spec.name + "'") +
                       settings(nodes::graph_fields(), &spec, &no_settings) + "\n";
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        text += "tensor " + tensor_reference(spec, static_cast<nodes::TensorId>(i)) +
                settings(nodes::tensor_fields(), &spec.tensors[i], &no_tensor) + "\n";
    }
    for (nodes::Node const& node : spec.nodes) text += node_line(spec, node);
    return text;
}

}  // namespace cudnn_frontend::graph
