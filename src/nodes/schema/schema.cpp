#include "nodes/schema/schema.h"

#include "nodes/schema/graph_spec.h"

#include <algorithm>
#include <array>

namespace cudnn_frontend::nodes {
namespace {

constexpr Field kTensorFields[] = {
    field<TensorSpec, &TensorSpec::name>("name", "what messages call the tensor", true),
    field<TensorSpec, &TensorSpec::uid>("uid", "the key in a pack; assigned by validation where it is not set"),
    field<TensorSpec, &TensorSpec::data_type>("data_type", "type of the elements; the graph's default where not set"),
    field<TensorSpec, &TensorSpec::dim>("dim", "sizes"),
    field<TensorSpec, &TensorSpec::stride>("stride", "distance between neighbors of each dim, in elements"),
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

bool all_positive(core::Dims const& dim) {
    return std::all_of(dim.begin(), dim.end(), [](std::int64_t size) { return size > 0; });
}

bool none_negative(core::Dims const& stride) {
    return std::all_of(stride.begin(), stride.end(), [](std::int64_t step) { return step >= 0; });
}

bool has_regular_layout(TensorSpec const& tensor) {
    return tensor.dim.size() == tensor.stride.size() && all_positive(tensor.dim) && none_negative(tensor.stride);
}

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

core::Dims rows_first_strides(core::Dims const& dim) {
    core::Dims const stride = core::packed_strides({dim[0], dim[2], dim[1], dim[3]});
    return {stride[0], stride[2], stride[1], stride[3]};
}

void infer_output(TensorSpec* tensor, core::Dims const& dim) {
    if (tensor == nullptr) return;
    if (tensor->dim.empty()) tensor->dim = dim;
    if (!tensor->stride.empty()) return;
    bool const is_ragged = tensor->ragged_offset != kNoTensor && tensor->dim.size() == 4;
    tensor->stride = is_ragged ? rows_first_strides(tensor->dim) : core::packed_strides(tensor->dim);
}

void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type) {
    if (tensor == nullptr) return;
    infer_output(tensor, dim);
    if (tensor->data_type == DataType_t::NOT_SET) tensor->data_type = type;
}

}  // namespace cudnn_frontend::nodes
