#include "api/graph/spec_text.h"

#include "nodes/schema/schema.h"

#include "support/catch.h"
#include "support/small_graph.h"

#include <set>

using namespace cudnn_frontend;
using test::small_graph;

namespace {

// Another value that the field can hold.
nodes::FieldValue changed(nodes::Field const& field, nodes::FieldValue const& value) {
    switch (field.type) {
        case nodes::FieldType::Bool: return !std::get<bool>(value);
        case nodes::FieldType::Integer:
        case nodes::FieldType::Enum: {
            auto const* const integer = std::get_if<std::int64_t>(&value);
            return std::int64_t{integer != nullptr && *integer == 1 ? 2 : 1};
        }
        case nodes::FieldType::Number: return 0.375;
        case nodes::FieldType::Text: return std::string("another name");
        case nodes::FieldType::IntegerList: return core::Dims{3, 1, 4};
        case nodes::FieldType::BoolList: return std::vector<bool>{true, false};
        case nodes::FieldType::Scalar: return detail::make_scalar(1.5f);
    }
    return value;
}

// Collects every key that comes from changing one field of an object, and the number of fields that must count.
void check_each_field(std::span<nodes::Field const> fields, nodes::GraphSpec& spec, void* object) {
    std::size_t const before = graph::canonical_key(spec);
    for (nodes::Field const& field : fields) {
        CAPTURE(field.name);
        nodes::FieldValue const original = field.get(object);
        field.set(object, changed(field, original));
        CHECK((graph::canonical_key(spec) == before) == field.is_label);
        field.set(object, original);
    }
    CHECK(graph::canonical_key(spec) == before);
}

}  // namespace

TEST_CASE("the key depends on every field but names") {
    nodes::GraphSpec spec;
    spec.tensors.resize(2);
    for (nodes::NodeSchema const* schema : nodes::all_schemas()) {
        CAPTURE(schema->tag);
        spec.nodes = {nodes::make_node(schema->kind)};
        check_each_field(schema->fields, spec, nodes::fields_object(spec.nodes[0]));
        std::set<std::size_t> keys{graph::canonical_key(spec)};
        for (nodes::PortRow const& row : schema->ports) {
            spec.nodes[0].ports[static_cast<std::size_t>(row.port)] = 1;
            keys.insert(graph::canonical_key(spec));
        }
        CHECK(keys.size() == schema->ports.size() + 1);
    }
    check_each_field(nodes::tensor_fields(), spec, &spec.tensors[0]);
    check_each_field(nodes::graph_fields(), spec, &spec);
}

TEST_CASE("equal graphs have equal keys, before and after validation") {
    auto first = small_graph(), second = small_graph();
    second.q->set_name("another name");
    CHECK(first.graph.key() == second.graph.key());
    std::size_t const before = first.graph.key();
    REQUIRE(first.graph.validate().is_good());
    CHECK(first.graph.key() == before);
    second.q->set_uid(77);
    CHECK(first.graph.key() != second.graph.key());
}
