// Backward attention as primitive operations. With p the probabilities, c the dropout scale and M its mask:
//   dv = (c M p)^T do,  ds = scale p (c M (do v^T) - rowsum(do o)),  dq = ds k,  dk = ds^T q.
// Where it is 8-bit, c M p, ds and the results are narrowed.
#include "expand/attention_steps.h"
#include "expand/node_expansions.h"

namespace cudnn_frontend::expand {

using ir::MaskedBy;
using ir::ValueId;
using enum PointwiseMode_t;

namespace {

// The results that one block of the expansion leaves for the next.
struct Shared {
    ValueId k_transposed, v_transposed, scale;
    Dropout dropout;
};

bool is_deterministic(AttentionScope const& at) {
    return std::get<nodes::SdpaBackwardFields>(at.node().fields).deterministic;
}

// dsink[h] = -sum_b,i exp(sink[h] - stats[b,h,i]) dot[b,h,i]: the sink's probability times minus the weight of the
// row's output in the loss.
void gradient_of_sink(AttentionScope& at, ValueId dot) {
    ValueId const sink = at.port(Port::SinkToken), stats = at.natural_stats();
    ValueId const shifted = at.masked(SUB, {sink, stats}, at.add_row("shifted_sink"), MaskedBy::Either);
    ValueId const probability = at.pointwise(EXP, {shifted}, at.add_row("sink_probability"));
    ValueId const product =
        at.masked(MUL, {probability, dot}, at.add_row("sink_probability_times_dot"), MaskedBy::First);
    ValueId const gradient = at.port(Port::DSinkToken);
    ValueId const weight = at.reduce({.mode = ReductionMode_t::ADD,
                                      .x = product,
                                      .y = at.add_virtual("sink_weight", at.value(gradient).dim, DataType_t::FLOAT),
                                      .rows = at.seq_len_q(),
                                      .is_deterministic = is_deterministic(at)});
    at.pointwise(NEG, {weight}, gradient);
}

// r[b,h,i] = sum_d do[b,h,i,d] o[b,h,i,d]
ValueId row_dot(AttentionScope& at) {
    ValueId const d_o = at.port(at.is_block_scaled() ? Port::DOF16 : Port::DO), o = at.port(Port::O);
    ValueId const product =
        at.pointwise(MUL, {d_o, o}, at.add_virtual("gradient_times_output", at.value(o).dim, DataType_t::FLOAT));
    ValueId sum = at.reduce(ReductionMode_t::ADD, product, at.add_row("row_dot"));
    sum = descaled(at, sum, {Port::DescaleDO, Port::DescaleO}, "row_dot");
    if (at.is_connected(Port::DSinkToken)) gradient_of_sink(at, sum);
    return sum;
}

// p[b,h,i,j] = exp(s[b,h,i,j] - stats[b,h,i]): forward's probabilities without its maximum and sum.
ValueId probabilities(AttentionScope& at, Shared const& shared) {
    ValueId const stats = at.natural_stats();
    ValueId const s = mask_band(at, scores(at, shared.k_transposed, shared.scale));
    ValueId const shifted = at.masked(SUB, {s, stats}, at.add_score("shifted_scores"), MaskedBy::Either);
    return at.pointwise(EXP, {shifted}, at.add_score("probabilities"));
}

// x[b,h,i,j] times a factor of dropout, if there is any. A probability may be 0, and so may the factor of a gradient.
ValueId drop(AttentionScope& at, ValueId x, ValueId factor, char const* name, MaskedBy by) {
    return factor == ir::kNoValue ? x : at.masked(MUL, {x, factor}, at.add_score(name), by);
}

// x[b,h,j,i] from x[b,h,i,j], in the type of the products that follow.
ValueId transpose(AttentionScope& at, ValueId x, char const* name) {
    core::Dims const& s = at.score_dim();
    core::Dims const stride{s[1] * s[2] * s[3], s[2] * s[3], 1, s[3]};
    DataType_t const type = at.is_fp8() ? at.value(x).type : at.io_type();
    return at.reshape(x, at.add_virtual(name, {s[0], s[1], s[3], s[2]}, stride, type));
}

// How the gradient of queries, keys or values is narrowed after its product in 8-bit attention.
struct Narrowing {
    int factor_of_a, factor_of_b;  // ports: of the product's operands
    Quantization how;
};

struct Gradient {
    int port;
    char const* name;
    Narrowing narrowing;
};
constexpr Gradient kOfQueries{Port::DQ, "dQ", {Port::DescaleDP, Port::DescaleK, {Port::AmaxDQ, Port::ScaleDQ}}};
constexpr Gradient kOfKeys{Port::DK, "dK", {Port::DescaleDP, Port::DescaleQ, {Port::AmaxDK, Port::ScaleDK}}};
constexpr Gradient kOfValues{Port::DV, "dV", {Port::DescaleS, Port::DescaleDO, {Port::AmaxDV, Port::ScaleDV}}};

// The result of the sum that makes the gradient; in 8-bit attention it is not the gradient itself.
ValueId add_sum(AttentionScope& at, Gradient const& gradient) {
    ValueId const result = at.port(gradient.port);
    if (!at.has_factors()) return result;
    return at.add_virtual(std::string("wide_") + gradient.name, at.value(result).dim, DataType_t::FLOAT);
}

void store(AttentionScope& at, ValueId sum, Gradient const& gradient) {
    if (!at.is_fp8()) return;
    Narrowing const& narrowing = gradient.narrowing;
    int const amax = narrowing.how.amax_port;
    if (at.is_block_scaled()) {
        if (at.is_connected(amax)) at.reduce(ReductionMode_t::AMAX, sum, at.port(amax));
        return;
    }
    ValueId const wide =
        descaled(at, sum, {narrowing.factor_of_a, narrowing.factor_of_b}, std::string("wide_") + gradient.name);
    quantized(at, wide, narrowing.how, at.port(gradient.port));
}

// The gradient of each query head, before heads that share keys or values are summed.
ValueId add_gradient_of_heads(AttentionScope& at, core::Dims const& dim, char const* gradient) {
    DataType_t const type = at.is_fp8() ? DataType_t::FLOAT : at.io_type();
    return at.add_virtual(std::string(gradient) + "_of_query_heads", dim, type);
}

// g[b,k,j,d] = sum_i a[b,h,j,i] x[b,h,i,d], summed over the query heads h that share the head k of keys or values.
void sum_over_queries(AttentionScope& at, ValueId a, ValueId x, Gradient const& gradient) {
    ValueId const sum = add_sum(at, gradient);
    core::Dims const& s = at.score_dim();
    core::Dims const full{s[0], s[1], s[3], at.value(x).dim[3]};
    bool const is_shared = at.value(sum).dim != full;
    ValueId const product = is_shared ? add_gradient_of_heads(at, full, gradient.name) : sum;
    at.matmul(
        {.a = a, .b = x, .c = product, .m_override = at.seq_len_kv(), .k_override = at.seq_len_q(), .a_masks = true});
    if (is_shared) at.reduce(ReductionMode_t::ADD, product, sum, is_deterministic(at));
    store(at, sum, gradient);
}

// dv[b,h,j,d] = sum_i c M[b,h,i,j] p[b,h,i,j] do[b,h,i,d]
void gradient_of_values(AttentionScope& at, Shared const& shared, ValueId p) {
    p = drop(at, p, shared.dropout.mask, "kept_probabilities", MaskedBy::First);
    p = drop(at, p, shared.dropout.scale, "dropped_probabilities", MaskedBy::First);
    if (at.is_block_scaled()) {
        ValueId const columns = transpose(at, p, "transposed_probabilities");
        ValueId const d_o = operand(at, Port::DOTransposed);
        sum_over_queries(at, requantized(at, columns, at.io_type(), 3, "probabilities"), d_o, kOfValues);
        return;
    }
    if (at.is_fp8()) {
        ValueId const narrow = at.add_score("narrow_probabilities", at.io_type());
        p = at.pointwise(MUL, {p, at.port(Port::ScaleS)}, narrow);
    }
    sum_over_queries(at, transpose(at, p, "transposed_probabilities"), at.port(Port::DO), kOfValues);
}

// dp[b,h,i,j] = sum_d do[b,h,i,d] v[b,h,j,d]
ValueId gradient_of_probabilities(AttentionScope& at, Shared const& shared) {
    ValueId const dp = at.matmul({.a = operand(at, Port::DO),
                                  .b = shared.v_transposed,
                                  .c = at.add_score("probability_gradients"),
                                  .m_override = at.seq_len_q(),
                                  .n_override = at.seq_len_kv()});
    ValueId const wide = descaled(at, dp, {Port::DescaleDO, Port::DescaleV}, "probability_gradients");
    ValueId const kept = drop(at, wide, shared.dropout.mask, "kept_probability_gradients", MaskedBy::Second);
    return drop(at, kept, shared.dropout.scale, "dropped_probability_gradients", MaskedBy::Second);
}

// ds[b,h,i,j] = p[b,h,i,j] (dp[b,h,i,j] - r[b,h,i]), the gradient of the softmax's input, thus of the bias too. Times
// the scale it is the gradient of the product q k^T.
ValueId gradient_of_scores(AttentionScope& at, Shared const& shared, ValueId p, ValueId r) {
    ValueId ds = gradient_of_probabilities(at, shared);
    ds = at.pointwise(SUB, {ds, r}, at.add_score("centered_gradients"));
    ds = at.masked(MUL, {ds, p}, at.add_shown_score(Port::DScore, "score_gradients"), MaskedBy::Second);
    if (at.is_connected(Port::DBias)) at.reduce(ReductionMode_t::ADD, ds, at.port(Port::DBias), is_deterministic(at));
    ds = at.modified(ds, Port::DScore, Port::DScoreMod);
    if (shared.scale != ir::kNoValue) {
        ds = at.masked(MUL, {ds, shared.scale}, at.add_score("scaled_score_gradients"), MaskedBy::First);
    }
    if (!at.has_factors()) return ds;
    ValueId const narrow = at.add_score("narrow_score_gradients", at.value(at.port(Port::DO)).type);
    return quantized(at, ds, {Port::AmaxDP, Port::ScaleDP}, narrow);
}

// dq[b,h,i,d] = sum_j ds[b,h,i,j] k[b,h,j,d]
void gradient_of_queries(AttentionScope& at, ValueId ds) {
    ValueId const dq = add_sum(at, kOfQueries);
    at.matmul({.a = ds,
               .b = at.is_block_scaled() ? operand(at, Port::KTransposed) : at.port(Port::K),
               .c = dq,
               .m_override = at.seq_len_q(),
               .k_override = at.seq_len_kv(),
               .a_masks = true,
               .is_deterministic = is_deterministic(at)});
    store(at, dq, kOfQueries);
}

}  // namespace

void expand_backward(AttentionScope& at) {
    Shared shared{.dropout = make_dropout(at)};
    ValueId const r = row_dot(at);
    shared.k_transposed = transposed_operand(at, Port::K);
    shared.v_transposed = transposed_operand(at, Port::V);
    shared.scale = attention_scale(at);
    ValueId const p = probabilities(at, shared);
    gradient_of_values(at, shared, p);
    ValueId const ds = gradient_of_scores(at, shared, p, r);
    DataType_t const type = at.value(at.port(Port::DO)).type;
    ValueId const columns = transpose(at, ds, "transposed_score_gradients");
    ValueId const q = at.is_block_scaled() ? operand(at, Port::QTransposed) : at.port(Port::Q);
    sum_over_queries(at, requantized(at, columns, type, 3, "transposed_score_gradients"), q, kOfKeys);
    gradient_of_queries(at, requantized(at, ds, type, 3, "score_gradients"));
}

}  // namespace cudnn_frontend::expand
