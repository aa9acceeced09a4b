// Attention nodes as one operation, for targets that have it.
#include "expand/node_expansions.h"
#include "ir/ports.h"
#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::expand {

static ir::AttentionOptions options_of(AttentionScope const& at) {
    nodes::AttentionFields const& fields = at.fields();
    ir::AttentionOptions options;
    options.scale_value = fields.attn_scale;
    options.alibi = fields.alibi_mask;
    options.padding = fields.padding_mask;
    options.alignment = fields.diagonal_alignment;
    options.left_bound = fields.left_bound;
    options.right_bound = fields.right_bound;
    if (at.generates_dropout()) options.dropout_probability = fields.dropout_probability;
    options.stats_in_base_2 = fields.stats_use_log2 && at.is_connected(Port::Stats);
    return options;
}

// Whether the node's options, as they are set, use the tensor that is connected. A tensor that no operation reads needs
// no pointer.
static bool uses(AttentionScope const& at, Port port) {
    switch (port) {
        case Port::AttnScale: return !at.fields().attn_scale;
        case Port::Seed:
        case Port::Offset:
        case Port::RngDump: return at.generates_dropout();
        case Port::DropoutMask:
        case Port::DropoutScale: return at.applies_dropout_mask();
        case Port::SinkToken: return !at.is_backward() || at.is_connected(Port::DSinkToken);
        default: return true;
    }
}

static ir::ValueId operand_of(AttentionScope const& at, Port port) {
    if (port == Port::SeqLenQ) return at.seq_len_q();
    if (port == Port::SeqLenKv) return at.seq_len_kv();
    return uses(at, port) ? at.port(port) : ir::kNoValue;
}

template <class Op>
static Op operation(AttentionScope& at, RegionSteps const& steps) {
    Op op;
    op.options = options_of(at);
    ir::for_each_operand(op, attention::is_used,
                         [&](auto const& row, ir::ValueId& id) { id = operand_of(at, row.port); });
    if (steps) op.region = make_region(at, *steps);
    return op;
}

void expand_fused_forward(AttentionScope& at, RegionSteps const& steps) {
    auto op = operation<ir::SdpaForwardOp>(at, steps);
    if (nodes::has_pages(at.node())) op.keys = at.keys();
    at.add_node(op);
}

void expand_fused_backward(AttentionScope& at, RegionSteps const& steps) {
    auto op = operation<ir::SdpaBackwardOp>(at, steps);
    op.deterministic = std::get<nodes::SdpaBackwardFields>(at.node().fields).deterministic;
    at.add_node(op);
}

}  // namespace cudnn_frontend::expand
