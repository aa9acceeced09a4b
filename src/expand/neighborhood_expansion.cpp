// Neighborhood attention as products over windows, in the terms of neighborhood_scope.h. Forward:
//   s[i,w] = scale sum_d q[i,d] k[k(i,w),d] + bias[i,w],  p[i,w] = exp(s[i,w]) / sum_w exp(s[i,w]),
//   o[i,d] = sum_w p[i,w] v[k(i,w),d],
// and backward, where each sum over pairs is over the i and w with k(i,w) = j:
//   dp[i,w] = sum_d do[i,d] v[k(i,w),d],  ds[i,w] = p[i,w] (dp[i,w] - sum_d do[i,d] o[i,d]),
//   dq[i,d] = scale sum_w ds[i,w] k[k(i,w),d],  dk[j,d] = scale sum_pairs ds[i,w] q[i,d],
//   dv[j,d] = sum_pairs p[i,w] do[i,d].
#include "expand/neighborhood_scope.h"
#include "expand/node_expansions.h"

#include <limits>

namespace cudnn_frontend::expand {

using ir::MaskedBy;
using enum PointwiseMode_t;
namespace port = nodes::neighborhood;

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

// scale q[i,d]: scores are not scaled themselves, since -inf stands for no key.
ValueId scaled_queries(NeighborhoodScope& at, ValueId scale) {
    return at.pointwise(MUL, {at.tokens(port::Q, "queries"), scale}, at.add_tokens("scaled_queries"));
}

// s[i,w], and -inf where there is no key.
ValueId scores(NeighborhoodScope& at, ValueId scaled_queries, ValueId keys) {
    ValueId const s = at.multiply(scaled_queries, keys, kMasked, at.add_slots("scores"));
    if (!at.is_connected(port::RelPosBias)) return s;
    return at.pointwise(ADD, {s, at.bias()}, at.add_slots("biased_scores"));
}

// p[i,w] = exp(s[i,w] - max[i]) / sum[i], and stats[i] = max[i] + ln sum[i] where it is asked for.
ValueId softmax(NeighborhoodScope& at, ValueId s) {
    ValueId const max = at.reduce(ReductionMode_t::MAX, s, at.add_numbers("softmax_max"));
    ValueId const shifted = at.masked(SUB, {s, max}, at.add_slots("shifted_scores"), MaskedBy::Either);
    ValueId const exponential = at.pointwise(EXP, {shifted}, at.add_slots("exponentials"));
    ValueId const sum = at.reduce(ReductionMode_t::ADD, exponential, at.add_numbers("softmax_sum"));
    if (at.is_connected(port::Stats)) {
        ValueId const log_of_sum = at.pointwise(LOG, {sum}, at.add_numbers("softmax_log_sum"));
        at.store_stats(at.pointwise(ADD, {log_of_sum, max}, at.add_numbers("stats")));
    }
    return at.masked(DIV, {exponential, sum}, at.add_slots("probabilities"), MaskedBy::First);
}

void expand_fused_forward(NeighborhoodScope& at) {
    ValueId const q = scaled_queries(at, at.add_number("scale", at.scale()));
    ValueId const p = softmax(at, scores(at, q, at.tokens(port::K, "keys")));
    at.store(at.weigh_keys(p, at.tokens(port::V, "values"), at.result(port::O, "outputs")), port::O);
}

// ds[i,w] = p[i,w] (sum_d do[i,d] v[k(i,w),d] - sum_d do[i,d] o[i,d])
ValueId gradient_of_scores(NeighborhoodScope& at, ValueId p, ValueId d_o, ValueId v) {
    ValueId const product =
        at.pointwise(MUL, {d_o, at.tokens(port::O, "outputs")}, at.add_tokens("gradient_times_output"));
    ValueId const row_dot = at.reduce(ReductionMode_t::ADD, product, at.add_numbers("row_dot"));
    ValueId const dp = at.multiply(d_o, v, 0.0, at.add_slots("probability_gradients"));
    ValueId const centered = at.pointwise(SUB, {dp, row_dot}, at.add_slots("centered_gradients"));
    return at.masked(MUL, {centered, p}, at.add_slots("score_gradients"), MaskedBy::Second);
}

void expand_fused_backward(NeighborhoodScope& at) {
    ValueId const scale = at.add_number("scale", at.scale());
    ValueId const q = scaled_queries(at, scale), k = at.tokens(port::K, "keys");
    ValueId const shifted =
        at.masked(SUB, {scores(at, q, k), at.stats()}, at.add_slots("shifted_scores"), MaskedBy::Either);
    ValueId const p = at.pointwise(EXP, {shifted}, at.add_slots("probabilities"));
    ValueId const d_o = at.tokens(port::DO, "output_gradients");
    at.store(at.weigh_queries(p, d_o, at.result(port::DV, "value_gradients")), port::DV);
    ValueId const ds = gradient_of_scores(at, p, d_o, at.tokens(port::V, "values"));
    at.sum_bias_gradient(ds);
    at.store(at.weigh_queries(ds, q, at.result(port::DK, "key_gradients")), port::DK);
    ValueId const of_scaled = at.weigh_keys(ds, k, at.add_tokens("scaled_query_gradients"));
    at.store(at.pointwise(MUL, {of_scaled, scale}, at.result(port::DQ, "query_gradients")), port::DQ);
}

void expand_qk(NeighborhoodScope& at) {
    bool const has_bias = at.is_connected(port::RelPosBias);
    ValueId const attn = at.port(port::Attn);
    ValueId const products =
        at.multiply(at.port(port::Q), at.port(port::K), kMasked, has_bias ? at.add_slots("products") : attn);
    if (has_bias) at.pointwise(ADD, {products, at.bias()}, attn);
}

void expand_qk_backward(NeighborhoodScope& at) {
    ValueId const d_attn = at.port(port::DAttn);
    at.weigh_keys(d_attn, at.port(port::K), at.port(port::DQ));
    at.weigh_queries(d_attn, at.port(port::Q), at.port(port::DK));
    at.sum_bias_gradient(d_attn);
}

void expand_av(NeighborhoodScope& at) { at.weigh_keys(at.port(port::Attn), at.port(port::V), at.port(port::O)); }

void expand_av_backward(NeighborhoodScope& at) {
    ValueId const d_o = at.port(port::DO);
    at.multiply(d_o, at.port(port::V), 0.0, at.port(port::DAttn));
    at.weigh_queries(at.port(port::Attn), d_o, at.port(port::DV));
}

}  // namespace

void expand_fused_neighborhood(NodeScope& node) {
    NeighborhoodScope const at(node);
    ir::NeighborhoodOp op{nodes::neighborhood_function(at.node()), at.options(), at.scale()};
    for (auto const& row : neighborhood::kOperands) {
        if (row.use_in(op.function) != neighborhood::Use::None) op.operands[row.port] = at.port(row.port);
    }
    node.add_node(op);
}

void expand_neighborhood(NodeScope& node) {
    NeighborhoodScope at(node);
    switch (at.node().kind()) {
        case nodes::NodeKind::NeighborhoodForward: return expand_fused_forward(at);
        case nodes::NodeKind::NeighborhoodBackward: return expand_fused_backward(at);
        case nodes::NodeKind::NeighborhoodQk: return expand_qk(at);
        case nodes::NodeKind::NeighborhoodQkBackward: return expand_qk_backward(at);
        case nodes::NodeKind::NeighborhoodAv: return expand_av(at);
        case nodes::NodeKind::NeighborhoodAvBackward: return expand_av_backward(at);
        default: return;  // no function of neighborhood attention
    }
}

}  // namespace cudnn_frontend::expand
