#include "kernels/attention/attention_values.h"

#include <bit>

namespace cudnn_frontend::kernels {

using attention::Port;

bool AttentionValues::uses(Port port) const {
    if (!has(port)) return false;
    ir::Role const role = value(port).role;
    return role == ir::Role::Input || role == ir::Role::Output;
}

bool AttentionValues::reads_sink() const { return has(Port::SinkToken) && (!is_backward || makes(Port::DSinkToken)); }

std::optional<float> AttentionValues::scale() const {
    if (!has(Port::AttnScale)) return static_cast<float>(options.scale_value.value_or(1.0));
    ir::Value const& scale = value(Port::AttnScale);
    if (scale.role != ir::Role::Constant || scale.type != DataType_t::FLOAT) return {};
    return std::bit_cast<float>(static_cast<std::uint32_t>(scale.constant.bits));
}

ir::Value const& AttentionValues::source_of(ir::Value const& lengths) const {
    return lengths.steps_of != ir::kNoValue ? graph.value(lengths.steps_of) : lengths;
}

std::optional<AttentionValues> attention_values(ir::OpGraph const& graph) {
    for (ir::Op const& op : graph.ops()) {
        if (auto const* const body = std::get_if<ir::SdpaForwardOp>(&op.body)) {
            return AttentionValues{graph, op, false, body->options, body->operands, body->region, false, body->keys};
        }
        if (auto const* const body = std::get_if<ir::SdpaBackwardOp>(&op.body)) {
            return AttentionValues{graph, op, true, body->options, body->operands, body->region, body->deterministic,
                                   {}};
        }
    }
    return {};
}

}  // namespace cudnn_frontend::kernels
