// Scale, bias, sink token, lengths and band of attention.
#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/schema/rule.h"

#include <cmath>
#include <limits>

namespace cudnn_frontend::nodes::attention_checks {
namespace {

using namespace attention;

constexpr std::int64_t kMaxAlibiHeads = std::int64_t{1} << 20;  // each has an entry in a table of slopes
constexpr std::int64_t kMaxBound = std::numeric_limits<std::int32_t>::max();

}  // namespace

void scale_is_given_once(RuleScope const& scope) {
    if (scope.tensor(AttnScale) == nullptr || !fields(scope).attn_scale) return;
    scope.report_port(AttnScale, text("a scale tensor and the scale ", fields(scope).attn_scale->value),
                      "the scale as a tensor or as a number, not both", "leave out one set_attn_scale()");
}

// No rule knows a scale that is in memory, or comes by value with each run.
void scale_is_finite(RuleScope const& scope) {
    constexpr char const* kFix = "call set_attn_scale() with 1 over the square root of the head dim";
    std::optional<float> const scale = fields(scope).attn_scale;
    if (scale && !std::isfinite(*scale))
        scope.report_node(text("the attention scale ", *scale), "a finite number", kFix);
    TensorSpec const* const tensor = scope.tensor(AttnScale);
    if (tensor == nullptr || !tensor->value || std::isfinite(core::to_double(*tensor->value))) return;
    scope.report_port(AttnScale, text("the attention scale ", core::to_double(*tensor->value)), "a finite number",
                      kFix);
}

void bias_type_fits(RuleScope const& scope) {
    TensorSpec const* const bias = scope.tensor(Bias);
    if (bias == nullptr || bias->data_type != DataType_t::BOOLEAN) return expect_wide_type(scope, Bias);
    scope.report_port(Bias, "bias of type BOOLEAN", "numbers that are added to the scores",
                      "pass 0 where a score is kept and minus infinity where it is masked, in HALF, BFLOAT16 or FLOAT");
}

void stats_type_fits(RuleScope const& scope) {
    expect_one_of(scope, Stats, is_wide, "type HALF, BFLOAT16 or FLOAT", "call set_data_type(DataType_t::FLOAT)");
}

void padding_has_lengths(RuleScope const& scope) {
    if (!fields(scope).padding_mask) return;
    for (auto const [port, sums] : {kQueryLengths, kKeyLengths}) {
        if (scope.tensor(port) != nullptr || scope.tensor(sums) != nullptr) continue;
        scope.report_port(port, text("a padding mask without ", kPort), "both seq_len_q and seq_len_kv",
                          "call set_seq_len_q() and set_seq_len_kv() with the lengths of the batch entries");
    }
}

void lengths_are_told_once(RuleScope const& scope) {
    for (auto const [port, sums] : {kQueryLengths, kKeyLengths}) {
        if (scope.tensor(port) == nullptr || scope.tensor(sums) == nullptr) continue;
        scope.report_port(sums, text(name(scope, sums), " together with ", name(scope, port)), "one of them",
                          text("leave out set_", name(scope, sums), "() or set_", name(scope, port), "()"));
    }
}

void lengths_are_given(RuleScope const& scope) { expect_given_lengths(scope, kPortsWhere<is_length>); }

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

void dbias_has_bias(RuleScope const& scope) {
    if (scope.tensor(DBias) == nullptr || scope.tensor(Bias) != nullptr) return;
    scope.report_port(DBias, "dBias without a bias", "the bias that it is the gradient of",
                      "call set_bias() as in the forward graph, or leave out set_dbias()");
}

void dsink_has_sink(RuleScope const& scope) {
    if (scope.tensor(DSinkToken) == nullptr || scope.tensor(SinkToken) != nullptr) return;
    scope.report_port(DSinkToken, "dSink_token without a sink token", "the sink token that it is the gradient of",
                      "call set_sink_token() as in the forward graph, or leave out set_dsink_token()");
}

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
