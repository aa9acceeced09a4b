#include "expand/user_tensors.h"

#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::expand {

using nodes::kNoTensor;
using nodes::TensorId;

static std::vector<bool> produced_tensors(nodes::GraphSpec const& spec) {
    std::vector<bool> produced(spec.tensors.size(), false);
    for (nodes::Node const& node : spec.nodes) {
        for (nodes::PortRow const& row : nodes::schema_of(node.kind()).ports) {
            TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
            if (row.direction == nodes::Direction::Output && id != kNoTensor) {
                produced[static_cast<std::size_t>(id)] = true;
            }
        }
    }
    return produced;
}

UserTensors::UserTensors(nodes::GraphSpec const& spec, ir::Builder& builder)
    : spec_(spec), builder_(builder), values_(spec.tensors.size(), ir::kNoValue), produced_(produced_tensors(spec)) {}

ir::ValueId UserTensors::value(TensorId id, ir::ValueId row_lengths, std::int64_t rows_together) {
    if (id == kNoTensor) return ir::kNoValue;
    ir::ValueId& known = values_[static_cast<std::size_t>(id)];
    if (known != ir::kNoValue) return known;
    nodes::TensorSpec const& tensor = spec_.tensors[static_cast<std::size_t>(id)];
    ir::Value value;
    value.uid = tensor.uid.value_or(-1);
    value.name = tensor.name.empty() ? "tensor_" + std::to_string(value.uid) : tensor.name;
    value.type = tensor.data_type;
    value.dim = tensor.dim;
    value.stride = tensor.stride;
    value.role = role_of(id);
    value.alignment = tensor.alignment;
    if (tensor.value) value.constant = *tensor.value;
    if (tensor.ragged_offset != kNoTensor) {
        value.ragged = {
            .offset = this->value(tensor.ragged_offset), .length = row_lengths, .rows_together = rows_together};
        // The stride of the batch entries means nothing to the user; a dense copy needs one.
        value.stride[0] = 0;
        value.stride[0] = core::span_of(value.dim, value.stride).value_or(0);
    }
    return known = builder_.add(std::move(value));
}

ir::Role UserTensors::role_of(TensorId id) const {
    nodes::TensorSpec const& tensor = spec_.tensors[static_cast<std::size_t>(id)];
    if (tensor.value) return ir::Role::Constant;
    if (tensor.is_by_value) return ir::Role::ByValue;
    if (tensor.is_virtual) return ir::Role::Virtual;
    return produced_[static_cast<std::size_t>(id)] ? ir::Role::Output : ir::Role::Input;
}

}  // namespace cudnn_frontend::inline v1::expand
