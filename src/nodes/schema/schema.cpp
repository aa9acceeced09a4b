#include "nodes/schema/schema.h"

#include "nodes/schema/graph_spec.h"

#include <array>

namespace cudnn_frontend::nodes {
namespace {

constexpr Field kTensorFields[] = {
    field<TensorSpec, &TensorSpec::name>("name", "what messages call the tensor", true),
    field<TensorSpec, &TensorSpec::uid>("uid", "the key in a pack; assigned by validation where it is not set"),
    field<TensorSpec, &TensorSpec::data_type>("data_type", "type of the elements; the graph's default where not set"),
    field<TensorSpec, &TensorSpec::dim>("dim", "sizes"),
    field<TensorSpec, &TensorSpec::stride>("stride", "distance between neighbours of each dim, in elements"),
    field<TensorSpec, &TensorSpec::is_virtual>("is_virtual", "exists inside the graph only"),
    field<TensorSpec, &TensorSpec::is_by_value>("is_by_value", "one element that the host supplies"),
    field<TensorSpec, &TensorSpec::value>("value", "an embedded scalar"),
    field<TensorSpec, &TensorSpec::is_constant>("is_constant",
                                                "the embedded scalar is a constant of the compiled plan"),
    field<TensorSpec, &TensorSpec::alignment>("alignment", "bytes to which the pointer is aligned"),
    field<TensorSpec, &TensorSpec::reordering>("reordering", "order of the elements inside a block"),
    field<TensorSpec, &TensorSpec::vector_count>("vector_count", "elements of one vector"),
    field<TensorSpec, &TensorSpec::vector_dimension>("vector_dimension", "the dim that is vectorized"),
    field<TensorSpec, &TensorSpec::ragged_offset_multiplier>("ragged_offset_multiplier",
                                                             "elements that the ragged offset counts as one"),
};

constexpr Field kGraphFields[] = {
    field<GraphSpec, &GraphSpec::name>("name", "what messages call the graph", true),
    field<GraphSpec, &GraphSpec::io_data_type>("io_data_type", "type of real tensors that have none"),
    field<GraphSpec, &GraphSpec::intermediate_data_type>("intermediate_data_type",
                                                         "type of virtual tensors that have none"),
    field<GraphSpec, &GraphSpec::compute_data_type>("compute_data_type", "type in which nodes that name none compute"),
};

template <class... Kinds>
constexpr std::array<NodeSchema const*, sizeof...(Kinds)> schemas_of(std::variant<Kinds...> const*) {
    return {&Kinds::schema...};
}

// The tables in the order of NodeKind.
constexpr auto kSchemas = schemas_of(static_cast<Fields const*>(nullptr));

template <std::size_t... Index>
Fields default_fields(NodeKind kind, std::index_sequence<Index...>) {
    Fields fields;
    (void)((static_cast<std::size_t>(kind) == Index ? (fields.emplace<Index>(), true) : false) || ...);
    return fields;
}

}  // namespace

std::span<Field const> tensor_fields() { return kTensorFields; }
std::span<Field const> graph_fields() { return kGraphFields; }
std::span<NodeSchema const* const> all_schemas() { return kSchemas; }
NodeSchema const& schema_of(NodeKind kind) { return *kSchemas[static_cast<std::size_t>(kind)]; }

void const* fields_object(Node const& node) {
    return std::visit([](auto const& fields) -> void const* { return &fields; }, node.fields);
}
void* fields_object(Node& node) {
    return std::visit([](auto& fields) -> void* { return &fields; }, node.fields);
}

Node make_node(NodeKind kind) {
    Node node;
    node.fields = default_fields(kind, std::make_index_sequence<std::variant_size_v<Fields>>());
    node.ports.assign(static_cast<std::size_t>(schema_of(kind).port_count), kNoTensor);
    return node;
}

char const* port_name(NodeKind kind, int port) {
    for (PortRow const& row : schema_of(kind).ports) {
        if (row.port == port) return row.name;
    }
    return "?";
}

}  // namespace cudnn_frontend::nodes
