#include "core/names.h"
#include "json/document.h"
#include "json/field_json.h"
#include "json/graph_json.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/modifiers.h"

#include <initializer_list>
#include <limits>

namespace cudnn_frontend::json {
namespace {

using nodes::Field;
using nodes::FieldType;
using Int64 = std::numeric_limits<std::int64_t>;

Json reference(std::string const& definition) { return Json::object({{"$ref", "#/$defs/" + definition}}); }

Json text_enum(std::span<char const* const> names) {
    Json list = Json::list();
    for (char const* name : names) list.append(name);
    return Json::object({{"enum", std::move(list)}});
}

Json any_of(Json first, Json second) {
    return Json::object({{"anyOf", Json::list({std::move(first), std::move(second)})}});
}

void append_all(Json& object, Json const& more) {
    for (auto const& [name, value] : more.members()) object.append(name, value);
}

// An object with these members and no others.
Json closed_object(char const* description, Json properties, std::initializer_list<char const*> required) {
    Json schema = Json::object({{"description", description}, {"type", "object"}});
    schema.append("properties", std::move(properties));
    if (required.size() > 0) schema.append("required", Json::list({required.begin(), required.end()}));
    schema.append("additionalProperties", false);
    return schema;
}

Json value_schema(Field const& field) {
    switch (field.type) {
        case FieldType::Bool: return Json::object({{"type", "boolean"}});
        case FieldType::Integer: return reference("integer");
        case FieldType::Number: return reference(field.is_single ? "single" : "number");
        case FieldType::Enum: return text_enum(field.enumerators());
        case FieldType::Text: return Json::object({{"type", "string"}});
        case FieldType::IntegerList: return Json::object({{"type", "array"}, {"items", reference("integer")}});
        case FieldType::BoolList:
            return Json::object({{"type", "array"}, {"items", Json::object({{"type", "boolean"}})}});
        case FieldType::Scalar: return reference("scalar");
    }
    return true;
}

Json field_schema(Field const& field, void const* defaults) {
    Json schema = Json::object({{"description", field.summary}});
    append_all(schema,
               field.nullable ? any_of(value_schema(field), Json::object({{"type", "null"}})) : value_schema(field));
    schema.append("default", to_json(field, field.get(defaults)));
    return schema;
}

Json fields_schema(std::span<Field const> fields, void const* defaults) {
    Json properties = Json::object();
    for (Field const& field : fields) properties.append(field.name, field_schema(field, defaults));
    return properties;
}

Json tensor_reference(char const* description) {
    Json schema = Json::object({{"description", description}});
    append_all(schema, reference("tensor_id"));
    return schema;
}

Json tensor_schema() {
    nodes::TensorSpec const defaults;
    Json properties = fields_schema(nodes::tensor_fields(), &defaults);
    properties.append(key::kRaggedOffset, tensor_reference("the tensor that says where each batch entry starts"));
    return closed_object("a tensor; what is left out has its default", std::move(properties), {});
}

Json ports_schema(nodes::NodeSchema const& schema, nodes::Direction direction) {
    Json properties = Json::object();
    for (nodes::PortRow const& row : schema.ports) {
        if (row.direction == direction) properties.append(row.name, tensor_reference(row.summary));
    }
    bool const is_input = direction == nodes::Direction::Input;
    return closed_object(is_input ? "the tensors that the node reads" : "the tensors that the node writes",
                         std::move(properties), {});
}

std::string node_definition(nodes::NodeSchema const& schema) { return std::string("node.") + schema.tag; }

// A list of nodes of these kinds.
Json node_list(char const* description, bool (*is_one)(nodes::NodeKind kind)) {
    Json kinds = Json::list();
    for (nodes::NodeSchema const* schema : nodes::all_schemas()) {
        if (is_one(schema->kind)) kinds.append(reference(node_definition(*schema)));
    }
    return Json::object({
        {"description", description},
        {"type", "array"},
        {"items", Json::object({{"oneOf", std::move(kinds)}})},
        {"maxItems", kMaxMembers},
    });
}

Json modifier_schema() {
    return node_list("from version 2, the nodes of the score modifier, and those of its gradient",
                     nodes::may_be_of_modifier);
}

Json node_schema(nodes::NodeSchema const& schema) {
    nodes::Node const defaults = nodes::make_node(schema.kind);
    Json properties = Json::object();
    properties.append(key::kTag, Json::object({{"const", schema.tag}}));
    for (Field const& field : node_fields()) properties.append(field.name, field_schema(field, &defaults));
    properties.append(key::kInputs, ports_schema(schema, nodes::Direction::Input));
    properties.append(key::kOutputs, ports_schema(schema, nodes::Direction::Output));
    properties.append(key::kFields, closed_object("the node's options; what is left out has its default",
                                                  fields_schema(schema.fields, nodes::fields_object(defaults)), {}));
    if (nodes::attention_fields(defaults) != nullptr) properties.append(key::kModifier, modifier_schema());
    return closed_object("a node of this kind", std::move(properties), {key::kTag});
}

Json number_schema(Json range) {
    constexpr char const* kSpecials[] = {kNan, kInfinity, kMinusInfinity};
    range.append("type", "number");
    return any_of(std::move(range), text_enum(kSpecials));
}

Json scalar_schema() {
    Json properties = Json::object();
    properties.append(key::kType, text_enum(core::names_of<DataType_t>()));
    properties.append(key::kValue, reference("number"));
    properties.append(
        key::kBits,
        Json::object({{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<std::uint64_t>::max()}}));
    Json schema = closed_object("a typed value: as a number, or as its bits where no number names it exactly",
                                std::move(properties), {key::kType});
    schema.append("minProperties", 2);
    schema.append("maxProperties", 2);
    return schema;
}

Json definitions() {
    Json const largest = number_to_json(std::numeric_limits<float>::max(), true);
    Json schemas = Json::object();
    schemas.append("tensor_id", Json::object({{"type", "string"}, {"pattern", kTensorIdPattern}}));
    schemas.append("integer",
                   Json::object({{"type", "integer"}, {"minimum", Int64::min()}, {"maximum", Int64::max()}}));
    schemas.append("number", number_schema(Json::object()));
    schemas.append("single", number_schema(Json::object({{"minimum", -*largest.floating()}, {"maximum", largest}})));
    schemas.append("scalar", scalar_schema());
    schemas.append("tensor", tensor_schema());
    for (nodes::NodeSchema const* schema : nodes::all_schemas()) {
        schemas.append(node_definition(*schema), node_schema(*schema));
    }
    return schemas;
}

Json tensors_schema() {
    return Json::object({
        {"description", "the tensors by id: t0, t1 and so on without gaps"},
        {"type", "object"},
        {"patternProperties", Json::object({{kTensorIdPattern, reference("tensor")}})},
        {"maxProperties", kMaxMembers},
        {"additionalProperties", false},
    });
}

Json nodes_schema() {
    return node_list("the nodes, in the order in which they were added", [](nodes::NodeKind) { return true; });
}

Json document_schema() {
    nodes::GraphSpec const defaults;
    Json properties = Json::object();
    properties.append(key::kFormat, Json::object({{"const", kFormatName}}));
    properties.append(key::kVersion, Json::object({{"enum", Json::list({kFlatVersion, kFormatVersion})}}));
    properties.append(key::kContext, closed_object("the graph's own fields; what is left out has its default",
                                                   fields_schema(nodes::graph_fields(), &defaults), {}));
    properties.append(key::kTensors, tensors_schema());
    properties.append(key::kNodes, nodes_schema());

    Json schema = Json::object({
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "sdpa-graph"},
    });
    append_all(schema, closed_object("a graph of tensors and nodes, docs/json.md", std::move(properties),
                                     {key::kFormat, key::kVersion, key::kTensors, key::kNodes}));
    schema.append("$defs", definitions());
    return schema;
}

}  // namespace

std::string graph_json_schema() { return print(document_schema()); }

}  // namespace cudnn_frontend::json
