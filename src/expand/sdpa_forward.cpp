// Forward attention as primitive operations: o = dropout(softmax(masked(scale q k^T + bias))) v.
#include "expand/dropout.h"
#include "expand/masks.h"
#include "expand/node_expansions.h"
#include "expand/scores.h"

namespace cudnn_frontend::inline v1::expand {

using ir::ValueId;
using enum PointwiseMode_t;

// stats[b,h,i] = max[b,h,i] + ln sum[b,h,i]. Engines want these two operations even where nobody reads the result.
static void log_sum_exp(AttentionScope& at, ValueId max, ValueId sum) {
    ValueId const stats = at.is_connected(Port::Stats) ? at.port(Port::Stats) : at.add_row("stats");
    ValueId const log_of_sum = at.pointwise(LOG, {sum}, at.add_row("softmax_log_sum"));
    at.pointwise(ADD, {log_of_sum, max}, stats);
}

// p[b,h,i,j] = exp(s[b,h,i,j] - max_j s[b,h,i,j]) / sum_j exp(...). A fully masked row has max = -inf and sum = 0; the
// guarded steps turn it into p = 0, and its stats into -inf.
static ValueId softmax(AttentionScope& at, ValueId s, DataType_t type) {
    ValueId const max = at.reduce(ReductionMode_t::MAX, s, at.add_row("softmax_max"));
    ValueId const shifted = at.guarded(SUB, {s, max}, at.add_score("shifted_scores"));
    ValueId const exponential = at.pointwise(EXP, {shifted}, at.add_score("exponentials"));
    ValueId const sum = at.reduce(ReductionMode_t::ADD, exponential, at.add_row("softmax_sum"));
    log_sum_exp(at, max, sum);
    return at.guarded(DIV, {exponential, sum}, at.add_score("probabilities", type));
}

// p[b,h,i,j] mask[b,h,i,j] scale. Engines know two orders: a drawn mask comes before its scale, the user's after it.
static ValueId drop(AttentionScope& at, ValueId p) {
    Dropout const dropout = make_dropout(at);
    bool const mask_first = at.generates_dropout();
    ValueId const first = mask_first ? dropout.mask : dropout.scale;
    ValueId const second = mask_first ? dropout.scale : dropout.mask;
    char const* const between = mask_first ? "kept_probabilities" : "scaled_probabilities";
    p = at.pointwise(MUL, {p, first}, at.add_score(between));
    return at.pointwise(MUL, {p, second}, at.add_score("dropped_probabilities", at.io_type()));
}

// k[b,h,d,j]. Engines want paged keys loaded in this form.
static ValueId transposed_keys(AttentionScope& at) {
    ValueId const k = at.port(Port::K);
    if (!at.is_connected(Port::Page_table_k)) return at.transposed(k);
    core::Dims const container = at.value(k).dim;
    std::int64_t const batches = at.score_dim()[0], heads = container[1], keys = at.keys(), depth = container[3];
    core::Dims const stride{heads * keys * depth, keys * depth, 1, depth};
    return at.load_pages({.container = k,
                          .table = at.port(Port::Page_table_k),
                          .length = at.seq_len_kv(),
                          .y = at.add_virtual("loaded_keys", {batches, heads, depth, keys}, stride, at.io_type()),
                          .transposes = true});
}

// v[b,h,j,d]
static ValueId values(AttentionScope& at) {
    ValueId const v = at.port(Port::V);
    if (!at.is_connected(Port::Page_table_v)) return v;
    core::Dims const container = at.value(v).dim;
    core::Dims const dim{at.score_dim()[0], container[1], at.keys(), container[3]};
    return at.load_pages({.container = v,
                          .table = at.port(Port::Page_table_v),
                          .length = at.seq_len_kv(),
                          .y = at.add_virtual("loaded_values", dim, at.io_type())});
}

// o[b,h,i,d] = sum_j p[b,h,i,j] v[b,h,j,d]
static void weigh_values(AttentionScope& at, ValueId p) {
    at.matmul(
        {.a = p, .b = values(at), .c = at.port(Port::O), .m_override = at.seq_len_q(), .k_override = at.seq_len_kv()});
}

void expand_forward(AttentionScope& at) {
    ValueId const k = transposed_keys(at);
    ValueId const s = mask_band(at, scores(at, k, attention_scale(at)));
    // The last value before the second product has the type of q and v: tensor cores take both factors in one type.
    bool const drops = at.generates_dropout() || at.applies_dropout_mask();
    ValueId const p = softmax(at, s, drops ? DataType_t::FLOAT : at.io_type());
    weigh_values(at, drops ? drop(at, p) : p);
}

}  // namespace cudnn_frontend::inline v1::expand
