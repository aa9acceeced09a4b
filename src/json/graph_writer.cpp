#include "core/immortal.h"
#include "core/process/standard_arithmetic.h"
#include "json/document.h"
#include "json/field_json.h"
#include "json/graph_json.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/modifiers.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cudnn_frontend::json {
namespace {

void append_unless_empty(Json& object, char const* name, Json members) {
    if (!members.members().empty()) object.append(name, std::move(members));
}

// Appends the fields that differ from their defaults.
void append_fields(Json& members, std::span<nodes::Field const> fields, void const* object, void const* defaults) {
    for (nodes::Field const& field : fields) {
        nodes::FieldValue const value = field.get(object);
        if (!same(value, field.get(defaults))) members.append(field.name, to_json(field, value));
    }
}

Json tensor_to_json(nodes::TensorSpec const& tensor) {
    static core::Immortal<nodes::TensorSpec> const defaults;
    Json members = Json::object();
    append_fields(members, nodes::tensor_fields(), &tensor, &*defaults);
    if (tensor.ragged_offset != nodes::kNoTensor) {
        members.append(key::kRaggedOffset, tensor_id(static_cast<std::size_t>(tensor.ragged_offset)));
    }
    return members;
}

Json ports_to_json(nodes::NodeSchema const& schema, nodes::Node const& node, nodes::Direction direction) {
    Json ports = Json::object();
    for (nodes::PortRow const& row : schema.ports) {
        nodes::TensorId const tensor = node.ports[static_cast<std::size_t>(row.port)];
        if (row.direction != direction || tensor == nodes::kNoTensor) continue;
        ports.append(row.name, tensor_id(static_cast<std::size_t>(tensor)));
    }
    return ports;
}

Json nodes_to_json(std::vector<nodes::Node> const& nodes);

Json node_to_json(nodes::Node const& node) {
    nodes::NodeSchema const& schema = nodes::schema_of(node.kind());
    nodes::Node const defaults = nodes::make_node(node.kind());
    Json members = Json::object();
    members.append(key::kTag, schema.tag);
    append_fields(members, node_fields(), &node, &defaults);
    append_unless_empty(members, key::kInputs, ports_to_json(schema, node, nodes::Direction::Input));
    append_unless_empty(members, key::kOutputs, ports_to_json(schema, node, nodes::Direction::Output));
    Json fields = Json::object();
    append_fields(fields, schema.fields, nodes::fields_object(node), nodes::fields_object(defaults));
    append_unless_empty(members, key::kFields, std::move(fields));
    if (!node.modifier.empty()) members.append(key::kModifier, nodes_to_json(node.modifier));
    return members;
}

Json nodes_to_json(std::vector<nodes::Node> const& nodes) {
    Json list = Json::list();
    for (nodes::Node const& node : nodes) list.append(node_to_json(node));
    return list;
}

Json graph_to_json(nodes::GraphSpec const& spec) {
    bool const has_modifiers = std::ranges::any_of(spec.nodes, [](auto const& node) { return !node.modifier.empty(); });
    Json document = Json::object();
    document.append(key::kFormat, kFormatName);
    document.append(key::kVersion, has_modifiers ? kFormatVersion : kFlatVersion);
    Json context = Json::object();
    nodes::GraphSpec const defaults;
    append_fields(context, nodes::graph_fields(), &spec, &defaults);
    append_unless_empty(document, key::kContext, std::move(context));
    Json tensors = Json::object();
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        tensors.append(tensor_id(i), tensor_to_json(spec.tensors[i]));
    }
    document.append(key::kTensors, std::move(tensors));
    document.append(key::kNodes, nodes_to_json(spec.nodes));
    return document;
}

}  // namespace

std::string write_graph(nodes::GraphSpec spec) {
    core::process::StandardArithmetic const standard;
    nodes::gather_modifiers(spec);
    return print(graph_to_json(spec));
}

std::string write_computation(nodes::GraphSpec spec) {
    spec.name.clear();
    for (nodes::TensorSpec& tensor : spec.tensors) tensor.name.clear();
    for (nodes::Node& node : every_node(spec)) node.name.clear();
    return write_graph(std::move(spec));
}

std::string write_flat_graph(nodes::GraphSpec spec) {
    core::process::StandardArithmetic const standard;
    nodes::flatten_modifiers(spec);
    return print(graph_to_json(spec));
}

}  // namespace cudnn_frontend::json
