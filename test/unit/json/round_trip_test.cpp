// Every field and port survives the round trip through JSON, and is in the text only if it differs from its default.
#include "fingerprint.h"
#include "json/graph_json.h"
#include "nodes/schema/schema.h"
#include "nodes/validation/modifiers.h"
#include "specs.h"
#include "support/catch.h"

#include <algorithm>
#include <functional>

using namespace cudnn_frontend;
using namespace cudnn_frontend::nodes;
using cudnn_frontend::test::fingerprint;

namespace {

GraphSpec through_json(GraphSpec const& spec) {
    std::string const text = json::write_graph(spec);
    CAPTURE(text);
    auto const back = json::read_graph(text);
    INFO(back.error().err_msg);
    REQUIRE(back.is_good());
    REQUIRE(json::write_graph(back.value()) == text);
    GraphSpec with_modifiers = spec;
    gather_modifiers(with_modifiers);
    REQUIRE(fingerprint(back.value()) == fingerprint(with_modifiers));
    return back.value();
}

using ObjectIn = std::function<void*(GraphSpec&)>;

// Sets each value of each field in turn; false if no value of a field made a difference.
void flip_fields(std::span<Field const> fields, ObjectIn const& object_in) {
    GraphSpec plain = test::plain_spec();
    std::string const plain_print = fingerprint(plain);
    std::string const plain_text = json::write_graph(plain);
    for (Field const& field : fields) {
        CAPTURE(field.name);
        int flipped = 0;
        for (FieldValue const& value : test::values_for(field)) {
            GraphSpec spec = plain;
            field.set(object_in(spec), value);
            GraphSpec const back = through_json(spec);
            if (fingerprint(spec) == plain_print) {
                REQUIRE(json::write_graph(spec) == plain_text);
            } else {
                REQUIRE(fingerprint(back) != plain_print);
                REQUIRE(json::write_graph(back).find("\"" + std::string(field.name) + "\": ") != std::string::npos);
                ++flipped;
            }
        }
        REQUIRE(flipped > 0);
    }
}

std::ptrdiff_t line_count(std::string const& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace

TEST_CASE("json: a graph field that is flipped comes back flipped") {
    flip_fields(graph_fields(), [](GraphSpec& spec) { return &spec; });
}

TEST_CASE("json: a tensor field that is flipped comes back flipped") {
    flip_fields(tensor_fields(), [](GraphSpec& spec) { return &spec.tensors[1]; });
}

TEST_CASE("json: a node field that is flipped comes back flipped") {
    for (std::size_t i = 0; i < all_schemas().size(); ++i) {
        CAPTURE(all_schemas()[i]->tag);
        flip_fields(all_schemas()[i]->fields, [i](GraphSpec& spec) { return fields_object(spec.nodes[i]); });
    }
}

TEST_CASE("json: a node's name and compute type come back") {
    GraphSpec spec = test::plain_spec();
    for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
        spec.nodes[i].name = "node \"" + std::to_string(i) + "\"";
        spec.nodes[i].compute_data_type = static_cast<DataType_t>(i + 1);
    }
    through_json(spec);
}

TEST_CASE("json: a port that is connected comes back connected") {
    GraphSpec const plain = test::plain_spec();
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
        for (PortRow const& row : schema_of(plain.nodes[i].kind()).ports) {
            CAPTURE(i, row.name);
            GraphSpec spec = plain;
            spec.nodes[i].ports[static_cast<std::size_t>(row.port)] = 1;
            REQUIRE(fingerprint(through_json(spec)) != fingerprint(plain));
            REQUIRE(json::write_graph(spec).find("\"" + std::string(row.name) + "\": \"t1\"") != std::string::npos);
        }
    }
}

TEST_CASE("json: a ragged offset comes back") {
    GraphSpec spec = test::plain_spec();
    spec.tensors[0].ragged_offset = 1;
    REQUIRE(through_json(spec).tensors[0].ragged_offset == 1);
    REQUIRE(json::write_graph(spec).find("\"ragged_offset\": \"t1\"") != std::string::npos);
}

TEST_CASE("json: the tables hold every member of the structs") {
    // ragged_offset is not a field, since it refers to a tensor.
    REQUIRE(line_count(fingerprint(TensorSpec())) == std::ssize(tensor_fields()) + 1);
    REQUIRE(line_count(fingerprint(GraphSpec())) == std::ssize(graph_fields()));
    for (NodeSchema const* schema : all_schemas()) {
        CAPTURE(schema->tag);
        REQUIRE(line_count(fingerprint(make_node(schema->kind).fields)) == std::ssize(schema->fields));
    }
}

TEST_CASE("json: what a graph object remembers about its tensors is not written") {
    GraphSpec spec = test::plain_spec();
    std::string const text = json::write_graph(spec);
    spec.tensors[0].is_foreign = true;
    spec.tensors[0].automatic_uid = 3;
    REQUIRE(json::write_graph(spec) == text);
    REQUIRE_FALSE(through_json(spec).tensors[0].is_foreign);
    REQUIRE_FALSE(through_json(spec).tensors[0].automatic_uid);
}

TEST_CASE("json: random graphs come back") {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        through_json(test::random_spec(seed));
    }
}

TEST_CASE("json: a score modifier is within its attention, and before it in version 1") {
    auto const graph_with_modifier = json::read_graph(R"({
        "format": "sdpa-graph", "version": 1, "tensors": {"t0": {"is_virtual": true}, "t1": {"is_virtual": true}, "t2": {}},
        "nodes": [{"tag": "POINTWISE", "name": "cap", "inputs": {"IN_0": "t0"}, "outputs": {"OUT_0": "t1"}},
                  {"tag": "SDPA_FORWARD", "inputs": {"score_mod": "t1"}, "outputs": {"O": "t2", "score": "t0"}}]})");
    INFO(graph_with_modifier.error().err_msg);
    REQUIRE(graph_with_modifier.is_good());
    GraphSpec const& flat = graph_with_modifier.value();
    REQUIRE(flat.nodes.size() == 2);

    std::string const text = json::write_graph(flat);
    REQUIRE(text.find("\"version\": 2") != std::string::npos);
    REQUIRE(text.find("\"tag\": \"SDPA_FORWARD\"") < text.find("\"name\": \"cap\""));
    GraphSpec const nested = through_json(flat);
    REQUIRE(nested.nodes.size() == 1);
    REQUIRE(nested.nodes[0].modifier.size() == 1);
    REQUIRE(nested.nodes[0].modifier[0].name == "cap");

    std::string const first_version = json::write_flat_graph(nested);
    REQUIRE(first_version.find("\"version\": 1") != std::string::npos);
    auto const back = json::read_graph(first_version);
    REQUIRE(back.is_good());
    REQUIRE(back.value() == flat);
}

TEST_CASE("json: text that is not UTF-8 is written with replacement characters") {
    GraphSpec spec;
    spec.name = "a\xff\x62";
    auto const back = json::read_graph(json::write_graph(spec));
    REQUIRE(back.is_good());
    REQUIRE(back.value().name == "a\xef\xbf\xbd\x62");
}

TEST_CASE("json: an enumerator out of range is written as one that reading refuses") {
    GraphSpec spec;
    spec.io_data_type = static_cast<DataType_t>(1000);
    auto const back = json::read_graph(json::write_graph(spec));
    REQUIRE(back.is_bad());
    REQUIRE(back.error().err_msg.find("/context/io_data_type: found the unknown name \"?\"") != std::string::npos);
}

TEST_CASE("json: the order of members does not matter") {
    auto const spec = json::read_graph(R"({
        "nodes": [{"fields": {"padding_value": 2}, "outputs": {"C": "t1"}, "tag": "MATMUL"}],
        "tensors": {"t1": {"name": "one"}, "t0": {"name": "zero"}},
        "version": 1, "format": "sdpa-graph"})");
    INFO(spec.error().err_msg);
    REQUIRE(spec.is_good());
    REQUIRE(spec.value().tensors[0].name == "zero");
    REQUIRE(spec.value().tensors[1].name == "one");
    REQUIRE(spec.value().nodes[0].ports[matmul::C] == 1);
    REQUIRE(std::get<MatmulFields>(spec.value().nodes[0].fields).padding_value == 2.0);
}
