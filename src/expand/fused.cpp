// Attention nodes as one operation, for targets that have it.
#include "expand/node_expansions.h"
#include "nodes/attention/paging.h"

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

// What forward and backward take alike.
template <class Op>
static Op common_op(AttentionScope const& at) {
    Op op;
    op.options = options_of(at);
    op.q = at.port(Port::Q);
    op.k = at.port(Port::K);
    op.v = at.port(Port::V);
    op.o = at.port(Port::O);
    op.stats = at.port(Port::Stats);
    if (!at.fields().attn_scale) op.scale = at.port(Port::Attn_scale);
    op.bias = at.port(Port::Bias);
    op.seq_len_q = at.seq_len_q();
    op.seq_len_kv = at.seq_len_kv();
    if (at.generates_dropout()) {
        op.seed = at.port(Port::Seed);
        op.offset = at.port(Port::Offset);
        op.rng_dump = at.port(Port::Rng_dump);
    } else if (at.applies_dropout_mask()) {
        op.dropout_mask = at.port(Port::Dropout_mask);
        op.dropout_scale = at.port(Port::Dropout_scale);
    }
    return op;
}

void expand_fused_forward(AttentionScope& at) {
    auto op = common_op<ir::SdpaForwardOp>(at);
    op.page_table_k = at.port(Port::Page_table_k);
    op.page_table_v = at.port(Port::Page_table_v);
    op.block_mask = at.port(Port::Block_mask);
    if (nodes::has_pages(at.node())) op.keys = at.keys();
    op.sink = at.port(Port::Sink_token);
    op.max = at.port(Port::Max);
    op.sum_exp = at.port(Port::Sum_exp);
    at.add_node(op);
}

void expand_fused_backward(AttentionScope& at) {
    auto op = common_op<ir::SdpaBackwardOp>(at);
    op.deterministic = std::get<nodes::SdpaBackwardFields>(at.node().fields).deterministic;
    op.d_o = at.port(Port::dO);
    op.d_q = at.port(Port::dQ);
    op.d_k = at.port(Port::dK);
    op.d_v = at.port(Port::dV);
    op.d_bias = at.port(Port::dBias);
    op.d_sink = at.port(Port::dSink_token);
    if (op.d_sink != ir::kNoValue) op.sink = at.port(Port::Sink_token);
    at.add_node(op);
}

}  // namespace cudnn_frontend::expand
