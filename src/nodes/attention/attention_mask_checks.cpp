// Scale, bias, lengths and band of attention.
#include "core/block_mask.h"
#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/schema/given_checks.h"

#include <cmath>
#include <limits>

namespace cudnn_frontend::nodes::attention_checks {
namespace {

using namespace attention;

constexpr std::int64_t kMaxAlibiHeads = std::int64_t{1} << 20;  // each has an entry in a table of slopes
constexpr std::int64_t kMaxBound = std::numeric_limits<std::int32_t>::max();

}  // namespace

void scale_is_given_once(RuleScope const& scope) {
    if (scope.tensor(Attn_scale) == nullptr || !fields(scope).attn_scale) return;
    scope.report_port(Attn_scale, text("a scale tensor and the scale ", *fields(scope).attn_scale),
                      "the scale as a tensor or as a number, not both", "leave out one set_attn_scale()");
}

void scale_is_one_number(RuleScope const& scope) {
    expect_one_element(scope, Attn_scale);
    TensorSpec const* const scale = scope.tensor(Attn_scale);
    if (scale == nullptr || !has_type(*scale)) return;
    if (core::is_floating_point(scale->data_type)) return;
    scope.report_port(Attn_scale, text("attn_scale of type ", scale->data_type), "a floating-point type",
                      "call set_data_type(DataType_t::FLOAT)");
}

// What is in memory, or comes by value with each run, is known to no rule.
void scale_is_finite(RuleScope const& scope) {
    constexpr char const* kFix = "call set_attn_scale() with 1 over the square root of the head size";
    auto const scale = fields(scope).attn_scale;
    if (scale && !std::isfinite(*scale))
        scope.report_node(text("the attention scale ", *scale), "a finite number", kFix);
    TensorSpec const* const tensor = scope.tensor(Attn_scale);
    if (tensor == nullptr || !tensor->value || std::isfinite(core::to_double(*tensor->value))) return;
    scope.report_port(Attn_scale, text("the attention scale ", core::to_double(*tensor->value)), "a finite number",
                      kFix);
}

void bias_broadcasts(RuleScope const& scope) { expect_broadcast(scope, Bias); }

void bias_type_fits(RuleScope const& scope) {
    TensorSpec const* const bias = scope.tensor(Bias);
    if (bias == nullptr || bias->data_type != DataType_t::BOOLEAN) return expect_wide_type(scope, Bias);
    scope.report_port(Bias, "bias of type BOOLEAN", "numbers that are added to the scores",
                      "pass 0 where a score is kept and minus infinity where it is masked, in HALF, BFLOAT16 or FLOAT");
}

void padding_has_lengths(RuleScope const& scope) {
    if (!fields(scope).padding_mask) return;
    for (auto const [port, sums] : {kQueryLengths, kKeyLengths}) {
        if (scope.tensor(port) != nullptr || scope.tensor(sums) != nullptr) continue;
        scope.report_port(port, text("a padding mask without ", kPort), "both seq_len_q and seq_len_kv",
                          "call set_seq_len_q() and set_seq_len_kv() with the lengths of the batch entries");
    }
}

void lengths_have_padding(RuleScope const& scope) {
    if (fields(scope).padding_mask) return;
    for (int const port : {Seq_len_q, Seq_len_kv, Cu_seq_len_q, Cu_seq_len_kv}) {
        if (scope.tensor(port) == nullptr) continue;
        scope.report_port(port, text(kPort, " without a padding mask"),
                          "the padding mask, which is what lengths are for",
                          "call set_padding_mask(true), or leave out the lengths");
    }
}

void lengths_have_dims(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr) return;
    for (int const port : {Seq_len_q, Seq_len_kv}) {
        expect_dims(scope, port, {q->dim[0], 1, 1, 1}, "one length for each batch entry of Q");
    }
    core::Dims const ends = boundary_dims(q->dim[0]);
    if (ends.empty()) return;
    for (int const port : {Cu_seq_len_q, Cu_seq_len_kv}) {
        expect_dims(scope, port, ends, "where each batch entry of Q ends, after a first 0");
    }
}

void lengths_are_int32(RuleScope const& scope) {
    for (int const port : {Seq_len_q, Seq_len_kv}) expect_type(scope, port, DataType_t::INT32);
    auto const is_integer = [](DataType_t type) { return type == DataType_t::INT32 || type == DataType_t::INT64; };
    for (int const port : {Cu_seq_len_q, Cu_seq_len_kv}) {
        expect_one_of(scope, port, is_integer, "INT32 or INT64", "call set_data_type(DataType_t::INT32)");
    }
}

void lengths_are_told_once(RuleScope const& scope) {
    for (auto const [port, sums] : {kQueryLengths, kKeyLengths}) {
        if (scope.tensor(port) == nullptr || scope.tensor(sums) == nullptr) continue;
        scope.report_port(sums, text(name(scope, sums), " beside ", name(scope, port)), "one of them",
                          text("leave out set_", name(scope, sums), "() or set_", name(scope, port), "()"));
    }
}

void lengths_are_given(RuleScope const& scope) {
    constexpr int kLengths[] = {Seq_len_q, Seq_len_kv, Cu_seq_len_q, Cu_seq_len_kv};
    expect_given_lengths(scope, kLengths);
}

void alibi_heads_fit(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (!fields(scope).alibi_mask || q == nullptr || q->dim[1] <= kMaxAlibiHeads) return;
    scope.report_port(Q, text(q->dim[1], " heads in Q with the ALiBi mask"), text("at most ", kMaxAlibiHeads, " heads"),
                      "check the order of the dims, which is batch, heads, rows, columns");
}

void right_bound_in_range(RuleScope const& scope) {
    auto const bound = fields(scope).right_bound;
    if (!bound || (*bound >= 0 && *bound <= kMaxBound)) return;
    scope.report_node(text("the right bound ", *bound), text("a right bound from 0 to ", kMaxBound),
                      *bound < 0 ? "call set_diagonal_band_right_bound(0) to mask all that is right of the diagonal"
                                 : "leave out the right bound to keep all columns");
}

void left_bound_in_range(RuleScope const& scope) {
    auto const bound = fields(scope).left_bound;
    if (!bound || (*bound >= 1 && *bound <= kMaxBound)) return;
    scope.report_node(text("the left bound ", *bound),
                      text("a left bound from 1 to ", kMaxBound, "; it counts the diagonal itself"),
                      *bound < 1 ? "add 1 to a window that does not count the diagonal, or leave out the left bound"
                                 : "leave out the left bound to keep all columns");
}

void block_mask_has_dims(RuleScope const& scope) {
    core::Dims const scores = score_dims(scope);
    if (scores.empty()) return;
    expect_dims(scope, Block_mask, core::block_mask_dims(scores), "a bit for each tile of 128 queries by 128 keys");
}

void block_mask_is_uint8(RuleScope const& scope) { expect_type(scope, Block_mask, DataType_t::UINT8); }

void dbias_has_bias(RuleScope const& scope) {
    if (scope.tensor(dBias) == nullptr || scope.tensor(Bias) != nullptr) return;
    scope.report_port(dBias, "dBias without a bias", "the bias that it is the gradient of",
                      "call set_bias() as in the forward graph, or leave out set_dbias()");
}

void dbias_broadcasts(RuleScope const& scope) { expect_broadcast(scope, dBias); }

void token_bounds_in_range(RuleScope const& scope) {
    auto const check = [&](char const* what, std::optional<std::int64_t> const& bound) {
        if (!bound || *bound >= 1) return;
        scope.report_node(text(what, "(", *bound, ")"), "a number of tokens of at least 1",
                          "pass the end of the last sequence, or leave the call out");
    };
    check("set_max_total_seq_len_q", fields(scope).max_total_seq_len_q);
    check("set_max_total_seq_len_kv", fields(scope).max_total_seq_len_kv);
}

}  // namespace cudnn_frontend::nodes::attention_checks
