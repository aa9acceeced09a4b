#include "expand/scope.h"

#include "nodes/schema/wording.h"

#include "nodes/attention/attention_node.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::expand {

using nodes::kNoTensor;
using nodes::TensorId;

static std::vector<nodes::Node const*> producers_of(nodes::GraphSpec const& spec) {
    std::vector<nodes::Node const*> producers(spec.tensors.size(), nullptr);
    for (nodes::Node const& node : every_node(spec)) {
        nodes::for_each_port(node, nodes::Direction::Output, [&](nodes::PortRow const&, TensorId id) {
            producers[static_cast<std::size_t>(id)] = &node;
        });
    }
    return producers;
}

static std::vector<bool> factors(nodes::GraphSpec const& spec) {
    std::vector<bool> are_factors(spec.tensors.size(), false);
    for (nodes::Node const& node : every_node(spec)) {
        if (!nodes::is_fp8(node) || nodes::is_block_scaled(node)) continue;
        nodes::for_each_port(node, nodes::Direction::Input, [&](nodes::PortRow const& row, TensorId id) {
            if (nodes::is_fp8_port(row.port)) are_factors[static_cast<std::size_t>(id)] = true;
        });
    }
    return are_factors;
}

UserTensors::UserTensors(nodes::GraphSpec const& spec, ir::Builder& builder)
    : spec_(spec),
      builder_(builder),
      values_(spec.tensors.size(), ir::kNoValue),
      producers_(producers_of(spec)),
      are_factors_(factors(spec)) {}

// The stride of a single row says nothing, nor do rows that lie within a head; and as many rows as the dims have room
// for are no bound.
static bool bounds_rows(nodes::TensorSpec const& tensor, std::int64_t most) {
    std::int64_t const rows = core::volume({tensor.dim[0], tensor.dim[2]}).value_or(0);
    return tensor.dim[2] > 1 && nodes::has_rows_of_all_heads(tensor) && most < rows;
}

ir::ValueId UserTensors::value(TensorId id, RaggedRows const& rows) {
    if (id == kNoTensor) return ir::kNoValue;
    ir::ValueId& known = values_[static_cast<std::size_t>(id)];
    if (known != ir::kNoValue) return known;
    nodes::TensorSpec const& tensor = spec_.tensors[static_cast<std::size_t>(id)];
    ir::Value value;
    value.uid = tensor.uid.value_or(-1);
    value.name = name_of(id);
    value.type = tensor.data_type;
    value.dim = tensor.dim;
    value.stride = tensor.stride;
    value.role = role_of(id);
    value.is_factor = are_factors_[static_cast<std::size_t>(id)];
    value.reordering = tensor.reordering;
    if (tensor.value) value.constant = *tensor.value;
    if (tensor.ragged_offset != kNoTensor) {
        value.ragged = {.offset = this->value(tensor.ragged_offset),
                        .length = rows.lengths,
                        .rows_together = rows.together,
                        .multiplier = tensor.ragged_offset_multiplier,
                        .most_rows = bounds_rows(tensor, rows.most) ? rows.most : 0};
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
    return producers_[static_cast<std::size_t>(id)] != nullptr ? ir::Role::Output : ir::Role::Input;
}

std::string UserTensors::name_of(TensorId id) const {
    auto const at = static_cast<std::size_t>(id);
    return nodes::name_of_tensor(spec_.tensors[at], producers_[at]);
}

}  // namespace cudnn_frontend::expand
