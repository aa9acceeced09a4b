// The rules of attention. Forward and backward share most of them; a row names its id in each.
#include "nodes/attention/attention_schema.h"

#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"

#include <array>

namespace cudnn_frontend::nodes {
namespace {

using namespace attention;
using namespace attention_checks;
using enum error_code_t;

struct AttentionRule {
    char const* forward_id;   // null where the rule is about backward only
    char const* backward_id;  // null where the rule is about forward only
    char const* summary;
    error_code_t code;
    void (*check)(RuleScope const& scope);
};

// One shape for all rows.
// clang-format off
constexpr AttentionRule kRules[] = {
    // sizes and strides; programs of the existing frontend expect the code of a value that is not set for another
    // number of dims
    {"sdpa_fwd.c01", "sdpa_bwd.c01",
     "Each tensor has 4 dims, except scalars, which have one element.",
     ATTRIBUTE_NOT_SET, has_four_dims},
    {"sdpa_fwd.c02", "sdpa_bwd.c02",
     "The stride of the last dim of Q, K, V, O and of their gradients is 1; a head dim of 1 may have any.",
     GRAPH_NOT_SUPPORTED, head_size_is_contiguous},
    {"sdpa_fwd.c03", nullptr,
     "K and V have the batch size of Q, unless they are paged.",
     INVALID_VALUE, batches_agree},
    {nullptr, "sdpa_bwd.c03",
     "K and V have the batch size of Q.",
     INVALID_VALUE, batches_agree},
    {"sdpa_fwd.c04", "sdpa_bwd.c04",
     "The numbers of heads of K and of V divide that of Q.",
     GRAPH_NOT_SUPPORTED, heads_divide},
    {"sdpa_fwd.c05", "sdpa_bwd.c05",
     "K has the head dim of Q.",
     INVALID_VALUE, head_sizes_agree},
    {"sdpa_fwd.c06", nullptr,
     "V has the length of K, unless they are paged.",
     INVALID_VALUE, key_lengths_agree},
    {nullptr, "sdpa_bwd.c06",
     "V has the length of K.",
     INVALID_VALUE, key_lengths_agree},
    {"sdpa_fwd.c07", "sdpa_bwd.c07",
     "O and dO have dims {B, Hq, Sq, Dv}.",
     INVALID_VALUE, dims_fit<O, DO, DOTransposed, DOF16>},
    {"sdpa_fwd.c08", "sdpa_bwd.c08",
     "Stats has dims {B, Hq, Sq, 1}.",
     INVALID_VALUE, dims_fit<Stats>},
    {"sdpa_fwd.c09", "sdpa_bwd.c09",
     "The lengths of Q and K are at most 2^28.",
     GRAPH_NOT_SUPPORTED, lengths_fit},
    {"sdpa_fwd.c10", "sdpa_bwd.c10",
     "The scores, and K and V repeated for each query head, have at most 2^60 elements.",
     GRAPH_NOT_SUPPORTED, intermediates_fit},

    // types and places
    {"sdpa_fwd.c11", "sdpa_bwd.c11",
     "Q, K and V have one type: HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, io_types_agree},
    {"sdpa_fwd.c12", "sdpa_bwd.c12",
     "O and the gradients are HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<O, DO, DQ, DK, DV, DBias>},
    {"sdpa_fwd.c13", nullptr,
     "Stats is HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, stats_type_fits},
    {nullptr, "sdpa_bwd.c13",
     "Stats is FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<Stats>},
    {"sdpa_fwd.c14", "sdpa_bwd.c14",
     "The compute data type is FLOAT; where none is set it is FLOAT.",
     GRAPH_NOT_SUPPORTED, computes_in_float},
    {"sdpa_fwd.c15", "sdpa_bwd.c15",
     "Inputs other than scales, descales, seed and offset are not passed by value.",
     GRAPH_NOT_SUPPORTED, tensors_are_in_memory},

    // scale and bias
    {"sdpa_fwd.c16", "sdpa_bwd.c16",
     "The attention scale is a tensor or a number, not both.",
     ATTRIBUTE_NOT_SET, scale_is_given_once},
    {"sdpa_fwd.c17", "sdpa_bwd.c17",
     "An attention scale that is a tensor has one element of a floating-point type.",
     INVALID_VALUE, fit<AttnScale>},
    {"sdpa_fwd.c18", "sdpa_bwd.c18",
     "An attention scale that is part of the graph is finite.",
     INVALID_VALUE, scale_is_finite},
    {"sdpa_fwd.c19", "sdpa_bwd.c19",
     "Each dim of the bias is that of the scores, {B, Hq, Sq, Skv}, or 1.",
     INVALID_VALUE, dims_fit<Bias>},
    {"sdpa_fwd.c20", "sdpa_bwd.c20",
     "The bias is HALF, BFLOAT16 or FLOAT, never BOOLEAN.",
     GRAPH_NOT_SUPPORTED, bias_type_fits},

    // padding and band
    {"sdpa_fwd.c21", "sdpa_bwd.c21",
     "A padding mask has seq_len_q and seq_len_kv, or their sums.",
     ATTRIBUTE_NOT_SET, padding_has_lengths},
    {"sdpa_fwd.c23", "sdpa_bwd.c23",
     "seq_len_q and seq_len_kv have dims {B, 1, 1, 1}, their sums {B + 1, 1, 1, 1}.",
     INVALID_VALUE, dims_fit<SeqLenQ, SeqLenKv, CuSeqLenQ, CuSeqLenKv>},
    {"sdpa_fwd.c24", "sdpa_bwd.c24",
     "seq_len_q and seq_len_kv, or their sums, are INT32 or INT64.",
     GRAPH_NOT_SUPPORTED, types_fit<SeqLenQ, SeqLenKv, CuSeqLenQ, CuSeqLenKv>},
    {"sdpa_fwd.c25", "sdpa_bwd.c25",
     "The right bound is at least 0 and fits INT32.",
     INVALID_VALUE, right_bound_in_range},
    {"sdpa_fwd.c26", "sdpa_bwd.c26",
     "The left bound is at least 1 and fits INT32.",
     INVALID_VALUE, left_bound_in_range},

    // dropout
    {"sdpa_fwd.c27", "sdpa_bwd.c27",
     "The dropout probability is at least 0 and less than 1.",
     ATTRIBUTE_NOT_SET, probability_in_range},
    {"sdpa_fwd.c28", "sdpa_bwd.c28",
     "Dropout is by a probability or by a mask, not both.",
     ATTRIBUTE_NOT_SET, dropout_is_one_kind},
    {"sdpa_fwd.c29", "sdpa_bwd.c29",
     "A dropout probability above 0 has seed and offset, and these have a probability.",
     ATTRIBUTE_NOT_SET, generator_is_complete},
    {"sdpa_fwd.c30", "sdpa_bwd.c30",
     "Seed and offset are one INT64 or INT32 each; with probability 0 they do not matter.",
     INVALID_VALUE, generator_state_is_integer},
    {"sdpa_fwd.c31", "sdpa_bwd.c31",
     "A dropout mask has its scale, in backward the inverse of the scale too, and these have a mask.",
     ATTRIBUTE_NOT_SET, mask_is_complete},
    {"sdpa_fwd.c32", "sdpa_bwd.c32",
     "Each dim of the dropout mask is that of the scores, {B, Hq, Sq, Skv}, or 1.",
     INVALID_VALUE, dims_fit<DropoutMask>},
    {"sdpa_fwd.c33", "sdpa_bwd.c33",
     "The dropout mask is HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<DropoutMask>},
    {"sdpa_fwd.c34", "sdpa_bwd.c34",
     "The scale of the dropout mask, and its inverse, are one FLOAT each.",
     INVALID_VALUE, fit<DropoutScale, DropoutScaleInv>},
    {"sdpa_fwd.c35", "sdpa_bwd.c35",
     "rng_dump comes with a dropout probability above 0.",
     ATTRIBUTE_NOT_SET, dump_has_generator},
    {"sdpa_fwd.c36", "sdpa_bwd.c36",
     "rng_dump has dims {B, Hq, Sq, Skv}.",
     INVALID_VALUE, dims_fit<RngDump>},
    {"sdpa_fwd.c37", "sdpa_bwd.c37",
     "rng_dump is FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<RngDump>},
    {"sdpa_fwd.c38", "sdpa_bwd.c38",
     "Results that an option asks for are outputs or read by a node.",
     ATTRIBUTE_NOT_SET, requested_results_are_used},

    // one direction only
    {"sdpa_fwd.c39", nullptr,
     "A Stats tensor is connected exactly where generate_stats is on.",
     ATTRIBUTE_NOT_SET, stats_as_asked},
    {nullptr, "sdpa_bwd.c39",
     "dQ, dK and dV have the dims of Q, K and V.",
     INVALID_VALUE, dims_fit<DQ, DK, DV>},
    {nullptr, "sdpa_bwd.c40",
     "dBias comes with a bias.",
     ATTRIBUTE_NOT_SET, dbias_has_bias},
    {nullptr, "sdpa_bwd.c41",
     "Each dim of dBias is that of the scores, {B, Hq, Sq, Skv}, or 1.",
     INVALID_VALUE, dims_fit<DBias>},

    // later additions, at the end because ids stay
    {"sdpa_fwd.c40", "sdpa_bwd.c42",
     "seq_len_q and seq_len_kv, or their sums, are not computed by a node.",
     GRAPH_NOT_SUPPORTED, lengths_are_given},
    {"sdpa_fwd.c41", "sdpa_bwd.c43",
     "With the ALiBi mask, Q has at most 2^20 heads.",
     GRAPH_NOT_SUPPORTED, alibi_heads_fit},
    {"sdpa_fwd.c42", "sdpa_bwd.c44",
     "Ragged tensors come with the padding mask.",
     GRAPH_NOT_SUPPORTED, ragged_checks::ragged_has_padding},
    {nullptr, "sdpa_bwd.c45",
     "The bounds on the tokens of all sequences are at least 1.",
     INVALID_VALUE, token_bounds_in_range},

    // score modifiers
    {"sdpa_fwd.c43", "sdpa_bwd.c46",
     "A score modifier returns a tensor.",
     ATTRIBUTE_NOT_SET, score_mod_checks::modifier_returns_a_tensor},
    {"sdpa_fwd.c44", "sdpa_bwd.c47",
     "What a score modifier gets and returns has the dims of the scores, {B, Hq, Sq, Skv}.",
     INVALID_VALUE, score_mod_checks::modified_has_dims},
    {"sdpa_fwd.c45", "sdpa_bwd.c48",
     "What a score modifier returns is made of the scores that it got.",
     INVALID_VALUE, score_mod_checks::modified_is_made_of_scores},
    {"sdpa_fwd.c46", "sdpa_bwd.c49",
     "What a score modifier gets and returns is FLOAT.",
     GRAPH_NOT_SUPPORTED, score_mod_checks::modified_is_float},
    {"sdpa_fwd.c47", nullptr,
     "A score modifier does not come with the implementation UNIFIED.",
     GRAPH_NOT_SUPPORTED, score_mod_checks::modifier_is_not_fused},
    {nullptr, "sdpa_bwd.c50",
     "The gradient of a score modifier comes with the modifier.",
     ATTRIBUTE_NOT_SET, score_mod_checks::gradient_has_modifier},

    // K and V in pages
    {"sdpa_fwd.c48", nullptr,
     "Page tables come with seq_len_q and seq_len_kv, or their sums.",
     ATTRIBUTE_NOT_SET, paged_checks::paged_has_lengths},
    {"sdpa_fwd.c49", nullptr,
     "Page tables are INT32.",
     GRAPH_NOT_SUPPORTED, types_fit<PageTableK, PageTableV>},
    {"sdpa_fwd.c50", nullptr,
     "A page table has dims {B, 1, pages, 1}, as many pages as hold Skv keys.",
     INVALID_VALUE, paged_checks::tables_have_dims},
    {"sdpa_fwd.c51", nullptr,
     "The rows of a page are a power of two.",
     GRAPH_NOT_SUPPORTED, paged_checks::page_sizes_fit},
    {"sdpa_fwd.c52", nullptr,
     "max_seq_len_kv of K or V in pages is at least 1.",
     ATTRIBUTE_NOT_SET, paged_checks::stated_length_is_positive},
    {"sdpa_fwd.c53", nullptr,
     "max_seq_len_kv is the length of K or V where that has no page table.",
     INVALID_VALUE, paged_checks::stated_length_agrees},
    {"sdpa_fwd.c54", nullptr,
     "K and V in pages have no ragged offset.",
     GRAPH_NOT_SUPPORTED, paged_checks::containers_are_not_ragged},
    {"sdpa_fwd.c55", nullptr,
     "Page tables are not computed by a node.",
     GRAPH_NOT_SUPPORTED, paged_checks::tables_are_given},

    {"sdpa_fwd.c56", "sdpa_bwd.c51",
     "The sink token has dims {1, Hq, 1, 1}.",
     INVALID_VALUE, dims_fit<SinkToken>},
    {"sdpa_fwd.c57", "sdpa_bwd.c52",
     "The sink token is HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<SinkToken>},
    {"sdpa_fwd.c58", nullptr,
     "Max and Sum_exp have dims {B, Hq, Sq, 1}.",
     INVALID_VALUE, dims_fit<Max, SumExp>},
    {"sdpa_fwd.c59", nullptr,
     "Max and Sum_exp are FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<Max, SumExp>},
    {nullptr, "sdpa_bwd.c53",
     "dSink_token comes with a sink token.",
     ATTRIBUTE_NOT_SET, dsink_has_sink},
    {nullptr, "sdpa_bwd.c54",
     "dSink_token has dims {1, Hq, 1, 1}.",
     INVALID_VALUE, dims_fit<DSinkToken>},
    {nullptr, "sdpa_bwd.c55",
     "dSink_token is FLOAT.",
     GRAPH_NOT_SUPPORTED, types_fit<DSinkToken>},
    {nullptr, "sdpa_bwd.c56",
     "A modifier that does more than add to scores or mask them comes with its gradient.",
     ATTRIBUTE_NOT_SET, score_mod_checks::curved_modifier_has_gradient},

    {"sdpa_fwd.c60", nullptr,
     "The block mask has dims {B, Hq, ceil(Sq / 128), ceil(ceil(Skv / 128) / 8)}.",
     INVALID_VALUE, dims_fit<BlockMask>},
    {"sdpa_fwd.c61", nullptr,
     "The block mask is UINT8.",
     GRAPH_NOT_SUPPORTED, types_fit<BlockMask>},

    // 8-bit attention
    {"sdpa_fp8_fwd.c01", "sdpa_fp8_bwd.c01",
     "FP8 attention has all its scales and descales.",
     ATTRIBUTE_NOT_SET, fp8_checks::factors_are_there},
    {"sdpa_fp8_fwd.c02", "sdpa_fp8_bwd.c02",
     "Scales, descales and amaxes of FP8 attention are one FLOAT each.",
     INVALID_VALUE, fp8_checks::factors_are_float},
    {"sdpa_fp8_fwd.c03", "sdpa_fp8_bwd.c03",
     "A scale or descale that is part of the graph is finite and greater than 0.",
     INVALID_VALUE, fp8_checks::known_factors_are_positive},
    {"sdpa_fp8_fwd.c04", "sdpa_fp8_bwd.c04",
     "In FP8 attention Q, K and V have one type, FP8_E4M3 or FP8_E5M2, and dO has one of these.",
     GRAPH_NOT_SUPPORTED, fp8_checks::factors_of_products_are_fp8},
    {"sdpa_fp8_fwd.c05", "sdpa_fp8_bwd.c05",
     "In FP8 attention O and the gradients are FP8_E4M3, FP8_E5M2, HALF or BFLOAT16.",
     GRAPH_NOT_SUPPORTED, fp8_checks::results_are_narrow},
    {"sdpa_fp8_fwd.c06", "sdpa_fp8_bwd.c06",
     "In FP8 attention bias, dBias, dropout mask and sink token are HALF, BFLOAT16 or FLOAT.",
     GRAPH_NOT_SUPPORTED, fp8_checks::side_tensors_are_wider},
    {"sdpa_fp8_fwd.c07", nullptr,
     "FP8 attention does not come with the implementation UNIFIED.",
     GRAPH_NOT_SUPPORTED, fp8_checks::is_not_fused},
    {"sdpa_fp8_fwd.c08", "sdpa_fp8_bwd.c07",
     "Block scales are FP8_E8M0.",
     GRAPH_NOT_SUPPORTED, block_scale_checks::scales_are_e8m0},
    {"sdpa_fp8_fwd.c09", "sdpa_fp8_bwd.c08",
     "Block scales have a dim for the blocks, padded to 4, the other of the last two padded to 128.",
     INVALID_VALUE, block_scale_checks::scales_have_dims},
    {"sdpa_fp8_fwd.c10", "sdpa_fp8_bwd.c09",
     "Block scales are in memory, in the order F8_128x4, without gaps.",
     GRAPH_NOT_SUPPORTED, block_scale_checks::scales_are_tiled},
    {"sdpa_fp8_fwd.c11", "sdpa_fp8_bwd.c10",
     "Block-scaled attention has no factors of whole tensors, and other attention none of its tensors.",
     INVALID_VALUE, block_scale_checks::scales_are_of_one_kind},
    {"sdpa_fp8_fwd.c12", "sdpa_fp8_bwd.c11",
     "In block-scaled attention O, dO_f16 and the gradients are HALF or BFLOAT16.",
     GRAPH_NOT_SUPPORTED, block_scale_checks::results_are_half},
    {"sdpa_fp8_fwd.c13", "sdpa_fp8_bwd.c12",
     "Block-scaled attention has neither pages nor ragged tensors.",
     GRAPH_NOT_SUPPORTED, block_scale_checks::rows_are_dense},
    {nullptr, "sdpa_fp8_bwd.c13",
     "Q_T, K_T and dO_T have the types and dims of Q, K and dO.",
     INVALID_VALUE, block_scale_checks::copies_agree},

    // cumulative lengths
    {"sdpa_fwd.c62", "sdpa_bwd.c57",
     "Lengths come as themselves or as sums, not both.",
     INVALID_VALUE, lengths_are_told_once},
    {"sdpa_fwd.c63", nullptr,
     "The bounds on the tokens of all sequences are at least 1.",
     INVALID_VALUE, token_bounds_in_range},
};
// clang-format on

using Id = char const* AttentionRule::*;

consteval std::size_t count_with(Id id) {
    std::size_t count = 0;
    for (AttentionRule const& rule : kRules) count += rule.*id != nullptr ? 1 : 0;
    return count;
}

// The rows that have this id.
template <Id id>
consteval auto table() {
    std::array<Rule, count_with(id)> rows{};
    std::size_t next = 0;
    for (AttentionRule const& rule : kRules) {
        if (rule.*id != nullptr) rows[next++] = {rule.*id, rule.summary, rule.code, rule.check};
    }
    return rows;
}

constexpr auto kForward = table<&AttentionRule::forward_id>();
constexpr auto kBackward = table<&AttentionRule::backward_id>();

}  // namespace

std::span<Rule const> sdpa_forward_rules() { return kForward; }
std::span<Rule const> sdpa_backward_rules() { return kBackward; }

}  // namespace cudnn_frontend::nodes
