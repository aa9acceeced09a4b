// Forward attention as primitive operations: o = dropout(softmax(masked(scale q k^T + bias))) v. Where it is 8-bit, the
// probabilities are narrowed before the product, and o after it.
#include "expand/attention_steps.h"
#include "expand/node_expansions.h"

#include <numbers>

namespace cudnn_frontend::expand {

using ir::MaskedBy;
using ir::ValueId;
using enum PointwiseMode_t;

// max[b,h,i] = max_j s[b,h,i,j], and sink[h] where there is one.
static ValueId row_max(AttentionScope& at, ValueId s) {
    ValueId const max = at.row_result(Port::Max, "softmax_max");
    if (!at.is_connected(Port::SinkToken)) return at.reduce(ReductionMode_t::MAX, s, max);
    ValueId const of_keys = at.reduce(ReductionMode_t::MAX, s, at.add_row("key_max"));
    return at.pointwise(MAX, {of_keys, at.port(Port::SinkToken)}, max);
}

// sum[b,h,i] = sum_j e[b,h,i,j], and exp(sink[h] - max[b,h,i]) where there is a sink.
static ValueId row_sum(AttentionScope& at, ValueId exponential, ValueId max) {
    ValueId const sum = at.row_result(Port::SumExp, "softmax_sum");
    if (!at.is_connected(Port::SinkToken)) return at.reduce(ReductionMode_t::ADD, exponential, sum);
    ValueId const of_keys = at.reduce(ReductionMode_t::ADD, exponential, at.add_row("key_sum"));
    ValueId const shifted =
        at.masked(SUB, {at.port(Port::SinkToken), max}, at.add_row("shifted_sink"), MaskedBy::Either);
    ValueId const of_sink = at.pointwise(EXP, {shifted}, at.add_row("sink_exponential"));
    return at.pointwise(ADD, {of_keys, of_sink}, sum);
}

// stats[b,h,i] = max[b,h,i] + ln sum[b,h,i], or that over ln 2.
static void log_sum_exp(AttentionScope& at, ValueId max, ValueId sum) {
    if (!at.is_connected(Port::Stats)) return;
    bool const is_natural = !at.fields().stats_use_log2;
    ValueId const log_of_sum = at.pointwise(LOG, {sum}, at.add_row("softmax_log_sum"));
    ValueId const stats = at.pointwise(ADD, {log_of_sum, max}, is_natural ? at.port(Port::Stats) : at.add_row("stats"));
    if (is_natural) return;
    at.pointwise(MUL, {stats, at.add_number("per_ln_2", std::numbers::log2e)}, at.port(Port::Stats));
}

// The last value before the second product has the type of q and v: a product needs both factors in one type. 8-bit
// probabilities are narrowed in a step of their own.
static DataType_t probability_type(AttentionScope const& at) { return at.is_fp8() ? DataType_t::FLOAT : at.io_type(); }

// p[b,h,i,j] = exp(s[b,h,i,j] - max[b,h,i]) / sum[b,h,i], and 0 where the pair is masked. A fully masked row has
// max = -inf, sum = 0 and stats = -inf.
static ValueId softmax(AttentionScope& at, ValueId s, bool is_last) {
    ValueId const max = row_max(at, s);
    ValueId const shifted = at.masked(SUB, {s, max}, at.add_score("shifted_scores"), MaskedBy::Either);
    ValueId const exponential = at.pointwise(EXP, {shifted}, at.add_score("exponentials"));
    ValueId const sum = row_sum(at, exponential, max);
    log_sum_exp(at, max, sum);
    ValueId const p = at.add_score("probabilities", is_last ? probability_type(at) : DataType_t::FLOAT);
    return at.masked(DIV, {exponential, sum}, p, MaskedBy::First);
}

// p[b,h,i,j] mask[b,h,i,j] scale
static ValueId drop(AttentionScope& at, ValueId p) {
    Dropout const dropout = make_dropout(at);
    p = at.masked(MUL, {p, dropout.mask}, at.add_score("kept_probabilities"), MaskedBy::First);
    return at.masked(MUL, {p, dropout.scale}, at.add_score("dropped_probabilities", probability_type(at)),
                     MaskedBy::First);
}

// x[b,h,j,d] from the pages that the table names.
static ValueId loaded(AttentionScope& at, int port, int table, char const* name) {
    ValueId const container = at.port(port);
    core::Dims const pages = at.value(container).dim;
    core::Dims const dim{at.score_dim()[0], pages[1], at.keys(), pages[3]};
    return at.load_pages({.container = container,
                          .table = at.port(table),
                          .length = at.seq_len_kv(),
                          .y = at.add_virtual(name, dim, at.io_type())});
}

// k[b,h,d,j]
static ValueId transposed_keys(AttentionScope& at) {
    if (!at.is_connected(Port::PageTableK)) return transposed_operand(at, Port::K);
    return at.transposed(loaded(at, Port::K, Port::PageTableK, "loaded_keys"));
}

// v[b,h,j,d]
static ValueId values(AttentionScope& at) {
    if (!at.is_connected(Port::PageTableV)) return operand(at, Port::V);
    return loaded(at, Port::V, Port::PageTableV, "loaded_values");
}

// o[b,h,i,d] = sum_j p[b,h,i,j] v[b,h,j,d]
static ValueId weigh_values(AttentionScope& at, ValueId p, ValueId o) {
    return at.matmul({.a = p,
                      .b = values(at),
                      .c = o,
                      .m_override = at.seq_len_q(),
                      .k_override = at.seq_len_kv(),
                      .a_masks = true});
}

// Probabilities are at most 1: times this they use most of the range of 8 bits, and none is cut off.
static constexpr double kProbabilityScale = 256.0;

static void weigh_blocks_of_values(AttentionScope& at, ValueId p) {
    ValueId const scale = at.add_number("probability_scale", kProbabilityScale);
    ValueId const narrow = at.pointwise(MUL, {p, scale}, at.add_score("narrow_probabilities", at.io_type()));
    core::Dims const dim = at.value(at.port(Port::O)).dim;
    ValueId const sum = weigh_values(at, narrow, at.add_virtual("weighed_values", dim, DataType_t::FLOAT));
    ValueId const descale = at.add_number("probability_descale", 1.0 / kProbabilityScale);
    ValueId const o = at.pointwise(MUL, {sum, descale}, at.port(Port::O));
    if (at.is_connected(Port::AmaxO)) at.reduce(ReductionMode_t::AMAX, o, at.port(Port::AmaxO));
}

static void weigh_values_in_8_bits(AttentionScope& at, ValueId p) {
    p = quantized(at, p, {Port::AmaxS, Port::ScaleS}, at.add_score("narrow_probabilities", at.io_type()));
    core::Dims const dim = at.value(at.port(Port::O)).dim;
    ValueId const sum = weigh_values(at, p, at.add_virtual("weighed_values", dim, DataType_t::FLOAT));
    ValueId const o = descaled(at, sum, {Port::DescaleS, Port::DescaleV}, "weighed_values");
    quantized(at, o, {Port::AmaxO, Port::ScaleO}, at.port(Port::O));
}

void expand_forward(AttentionScope& at) {
    ValueId const k = transposed_keys(at);
    ValueId const s = mask_blocks(at, mask_band(at, scores(at, k, attention_scale(at))));
    bool const drops = at.generates_dropout() || at.applies_dropout_mask();
    ValueId p = softmax(at, s, !drops);
    if (drops) p = drop(at, p);
    if (at.is_block_scaled()) weigh_blocks_of_values(at, p);
    else if (at.is_fp8()) weigh_values_in_8_bits(at, p);
    else weigh_values(at, p, at.port(Port::O));
}

}  // namespace cudnn_frontend::expand
