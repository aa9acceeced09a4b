#include "specs.h"

#include "core/data_type.h"
#include "nodes/schema/schema.h"

#include <limits>
#include <random>

namespace cudnn_frontend::test {
namespace {

using namespace nodes;

using Int64 = std::numeric_limits<std::int64_t>;
using Random = std::mt19937_64;

template <class Float>
std::vector<FieldValue> numbers() {
    using Limits = std::numeric_limits<Float>;
    std::vector<FieldValue> values;
    for (Float const value : {Float(0), -Float(0), Float(1), Float(0.1), Float(-2.5e-7), Float(7.038531e-26),
                              Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), Limits::infinity(),
                              -Limits::infinity(), Limits::quiet_NaN()}) {
        values.emplace_back(static_cast<double>(value));
    }
    return values;
}

std::vector<FieldValue> scalars() {
    std::vector<FieldValue> values;
    for (std::size_t type = 0; type < core::names_of<DataType_t>().size(); ++type) {
        for (std::uint64_t const bits :
             {0x0ull, 0x1ull, 0x3cull, 0x80ull, 0xffull, 0x3c00ull, 0x7c00ull, 0x7c01ull, 0x8000ull, 0x3dcccccdull,
              0x7f800000ull, 0x7fc00000ull, 0x7fc00001ull, 0x80000000ull, 0xffffffffull, 0x3fb999999999999aull,
              0x7ff8000000000000ull, 0x8000000000000000ull, 0xffffffffffffffffull}) {
            values.emplace_back(detail::Scalar{static_cast<DataType_t>(type), bits});
        }
    }
    return values;
}

std::vector<FieldValue> ordinals(std::size_t count) {
    std::vector<FieldValue> values;
    for (std::size_t i = 0; i < count; ++i) values.emplace_back(static_cast<std::int64_t>(i));
    return values;
}

std::vector<FieldValue> values_of_type(Field const& field) {
    switch (field.type) {
        case FieldType::Bool: return {false, true};
        case FieldType::Integer:
            return {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{16}, Int64::min(), Int64::max()};
        case FieldType::Number: return field.is_single ? numbers<float>() : numbers<double>();
        case FieldType::Enum: return ordinals(field.enumerators().size());
        case FieldType::Text:
            return {std::string(), std::string("Q"), std::string("a \"b\" \\ / \n \x01 ~"), std::string("\0x", 2),
                    std::string("t\xc3\xa9nseur \xf0\x9f\x98\x80")};
        case FieldType::IntegerList:
            return {core::Dims{}, core::Dims{0}, core::Dims{2, 8, 512, 128}, core::Dims{Int64::min(), -1, Int64::max()},
                    core::Dims(100, 123456)};
        case FieldType::BoolList:
            return {std::vector<bool>{}, std::vector<bool>{true}, std::vector<bool>{false, true, false}};
        case FieldType::Scalar: return scalars();
    }
    return {};
}

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random() % bound); }

void set_some(Random& random, std::span<Field const> fields, void* object) {
    for (Field const& field : fields) {
        if (below(random, 2) == 0) continue;
        auto const values = values_for(field);
        field.set(object, values[below(random, values.size())]);
    }
}

TensorId any_tensor(Random& random, GraphSpec const& spec) {
    return static_cast<TensorId>(below(random, spec.tensors.size() + 1)) - 1;
}

TensorSpec tensor_of(char const* name, std::int64_t uid, core::Dims dim) {
    TensorSpec tensor;
    tensor.name = name;
    tensor.uid = uid;
    tensor.stride = core::packed_strides(dim);
    tensor.dim = std::move(dim);
    return tensor;
}

}  // namespace

std::vector<FieldValue> values_for(Field const& field) {
    auto values = values_of_type(field);
    if (field.nullable) values.emplace_back();
    return values;
}

GraphSpec plain_spec() {
    GraphSpec spec;
    spec.tensors.resize(2);
    for (NodeSchema const* schema : all_schemas()) spec.nodes.push_back(make_node(schema->kind));
    return spec;
}

GraphSpec attention_spec() {
    GraphSpec spec;
    spec.name = "decoder layer";
    spec.io_data_type = DataType_t::BFLOAT16;
    spec.intermediate_data_type = DataType_t::FLOAT;
    spec.compute_data_type = DataType_t::FLOAT;
    spec.tensors = {tensor_of("Q", 1, {2, 8, 512, 128}),   tensor_of("K", 2, {2, 2, 1024, 128}),
                    tensor_of("V", 3, {2, 2, 1024, 128}),  tensor_of("O", 4, {2, 8, 512, 128}),
                    tensor_of("offsets", 5, {3, 1, 1, 1}), tensor_of("scale", 0, {1, 1, 1, 1})};
    spec.tensors[0].stride = {524288, 128, 1024, 1};
    spec.tensors[0].ragged_offset = spec.tensors[3].ragged_offset = 4;
    spec.tensors[4].data_type = DataType_t::INT32;
    spec.tensors[5].data_type = DataType_t::FLOAT;
    spec.tensors[5].uid.reset();
    spec.tensors[5].is_by_value = true;
    spec.tensors[5].value = detail::make_scalar(0.088388346f);

    Node node = make_node(NodeKind::SdpaForward);
    node.name = "attention";
    for (TensorId id = 0; auto const port : {attention::Q, attention::K, attention::V, attention::O}) {
        node.ports[port] = id++;
    }
    node.ports[attention::AttnScale] = 5;
    auto& fields = std::get<SdpaForwardFields>(node.fields);
    fields.diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    fields.right_bound = 0;
    fields.dropout_probability = 0.1f;
    spec.nodes.push_back(std::move(node));
    return spec;
}

GraphSpec random_spec(std::uint64_t seed) {
    Random random(seed);
    GraphSpec spec;
    set_some(random, graph_fields(), &spec);
    spec.tensors.resize(below(random, 13));
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        set_some(random, tensor_fields(), &spec.tensors[i]);
        // Offsets have no offsets of their own: even tensors may have an odd one.
        TensorId const offset = any_tensor(random, spec);
        if (i % 2 == 0 && offset % 2 == 1) spec.tensors[i].ragged_offset = offset;
    }
    for (std::size_t count = below(random, 7); count > 0; --count) {
        auto const kinds = all_schemas();
        NodeSchema const& schema = *kinds[below(random, kinds.size())];
        Node node = make_node(schema.kind);
        node.name = "node " + std::to_string(count);
        node.compute_data_type = static_cast<DataType_t>(below(random, core::names_of<DataType_t>().size()));
        set_some(random, schema.fields, fields_object(node));
        for (PortRow const& row : schema.ports)
            node.ports[static_cast<std::size_t>(row.port)] = any_tensor(random, spec);
        spec.nodes.push_back(std::move(node));
    }
    return spec;
}

}  // namespace cudnn_frontend::test
