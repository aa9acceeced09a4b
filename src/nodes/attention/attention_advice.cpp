// Properties of attention that are legal and probably not meant. Each check is silent about settings that a user may
// well want: advice that is often wrong is not read.
#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_checks.h"
#include "nodes/attention/attention_node.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/schema/rule.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace cudnn_frontend::nodes {
namespace {

using namespace attention;
using namespace attention_checks;

// The scale that is part of the graph.
std::optional<double> known_scale(RuleScope const& scope) {
    if (auto const scale = fields(scope).attn_scale) return *scale;
    TensorSpec const* const tensor = scope.tensor(AttnScale);
    if (tensor == nullptr || !tensor->value) return std::nullopt;
    return core::to_double(*tensor->value);
}

std::string counted(std::int64_t count, char const* one, char const* many) {
    return text(count, " ", count == 1 ? one : many);
}

std::string sizes_text(std::int64_t queries, std::int64_t keys) {
    return text(counted(queries, "query", "queries"), " and ", counted(keys, "key", "keys"));
}

std::string usual_scale(std::int64_t head_size) {
    auto const scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_size)));
    return text("set_attn_scale(", scale, "), 1 over the square root of the head dim ", head_size);
}

void scale_is_given(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    bool const is_given = fields(scope).attn_scale || scope.tensor(AttnScale) != nullptr;
    bool const may_be_scaled = scope.tensor(ScoreMod) != nullptr;
    if (q == nullptr || q->dim[3] == 1 || is_given || may_be_scaled) return;
    scope.report_node("no attention scale", "scores stay as they are, since the scale is 1 where none is set",
                      text("call ", usual_scale(q->dim[3]), "; set_attn_scale(1) if that is meant"));
}

void scale_is_below_one(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    auto const scale = known_scale(scope);
    if (q == nullptr || q->dim[3] == 1 || !scale) return;
    double const root = std::sqrt(static_cast<double>(q->dim[3]));
    if (std::abs(*scale - root) > 1e-3 * root) return;
    scope.report_node(text("the attention scale ", *scale),
                      "scores are multiplied by the square root of the head dim, not divided by it",
                      text("call ", usual_scale(q->dim[3])));
}

// With the right bound R at the top left, the keys from Sq + R on are visible to no query. A causal mask of that kind
// is meant to hide a few of them, where there are more keys than queries.
void keys_are_seen(RuleScope const& scope) {
    AttentionFields const& options = fields(scope);
    TensorSpec const* const q = scope.tensor_4d(Q);
    bool const starts_at_top_left = options.diagonal_alignment == DiagonalAlignment_t::TOP_LEFT;
    if (q == nullptr || !options.right_bound || !starts_at_top_left) return;
    std::int64_t const keys = key_count(scope), seen = q->dim[2] + *options.right_bound;
    if (2 * seen > keys) return;
    scope.report_node(
        text("a diagonal from the top left over ", sizes_text(q->dim[2], keys)),
        text(q->dim[2] == 1 ? "the query sees " : "queries see ",
             seen == 1 ? std::string("key 0 alone") : text("none but the first ", seen, " keys")),
        "call set_causal_mask_bottom_right(true), or set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT), where "
        "the last query belongs to the last key");
}

// Lengths, if there are any, say where the diagonal is.
void queries_see_keys(RuleScope const& scope) {
    AttentionFields const& options = fields(scope);
    TensorSpec const* const q = scope.tensor_4d(Q);
    bool const ends_at_bottom_right = options.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    if (q == nullptr || !options.right_bound || !ends_at_bottom_right || options.padding_mask) return;
    std::int64_t const keys = key_count(scope), blind = q->dim[2] - keys - *options.right_bound;
    if (keys < 1 || blind < 1) return;
    scope.report_node(
        text("a diagonal to the bottom right over ", sizes_text(q->dim[2], keys)),
        text(blind == 1 ? "the first query sees" : text("the first ", blind, " queries see"), " no key: O is 0 there"),
        "call set_causal_mask(true) for a diagonal from the top left, or give as many keys as queries");
}

void alignment_is_said_once(RuleScope const& scope) {
    AttentionFields const& options = fields(scope);
    if (!options.said.earlier_alignment) return;
    scope.report_node(
        text("the diagonal alignment ", *options.said.earlier_alignment, ", and then ", options.diagonal_alignment),
        "the last one counts",
        "leave out one call: set_causal_mask() means TOP_LEFT, set_causal_mask_bottom_right() BOTTOM_RIGHT");
}

void window_ends(RuleScope const& scope) {
    AttentionFields const& options = fields(scope);
    if (!options.said.is_window || options.right_bound) return;
    scope.report_node(text("set_sliding_window_length(", *options.left_bound, ") and no right bound"),
                      "a query sees all later keys in addition to those of its window",
                      "call set_causal_mask(true) too; set_diagonal_band_left_bound() if later keys are to be seen");
}

void alibi_looks_back(RuleScope const& scope) {
    AttentionFields const& options = fields(scope);
    if (!options.alibi_mask || options.right_bound) return;
    scope.report_node("the ALiBi mask and no right bound",
                      "the further a key lies behind the query, the more its score is raised",
                      "call set_causal_mask(true) too; for both directions pass -slope * |row - column| as the bias");
}

// No model in wide use has many more key heads than 64 and then so few keys; rows also come first in memory if the user
// confused the second dim with the length.
void heads_are_no_rows(RuleScope const& scope) {
    constexpr std::int64_t kManyHeads = 64, kHeadsForARow = 4;
    for (int const port : {K, V}) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (tensor == nullptr || is_paged(scope.node(), port) || tensor->stride.size() != 4) continue;
        std::int64_t const heads = tensor->dim[1], rows = tensor->dim[2];
        if (heads <= kManyHeads || heads / kHeadsForARow < rows || tensor->stride[1] < tensor->stride[2]) continue;
        scope.report_port(
            port, text(kPort, " with ", heads, " heads and ", counted(rows, "row", "rows")),
            "attention runs over the rows, the third dim, and computes each head, the second dim, on its own",
            "exchange dims 1 and 2, and the strides with them, if the second is the length: dims are "
            "always batch, heads, rows, columns");
    }
}

void keys_are_several(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor_4d(Q);
    if (q == nullptr || q->dim[2] == 1 || key_count(scope) != 1 || scope.tensor(SinkToken) != nullptr) return;
    scope.report_node(text("one key for ", q->dim[2], " queries"),
                      "its probability is 1, so that O is V whatever Q and K are",
                      "give K and V their length as the third dim");
}

void bounds_are_of_ragged_tensors(RuleScope const& scope) {
    auto const check = [&](int port, char const* call, std::optional<std::int64_t> const& bound) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (!bound || tensor == nullptr || tensor->ragged_offset != kNoTensor) return;
        std::int64_t const rows = tensor->dim[0] * tensor->dim[2];
        bool const is_mostly_padding = *bound < rows - *bound;
        scope.report_port(
            port, text(call, "(", *bound, ") and ", kPort, " without a ragged offset"),
            is_mostly_padding ? text("the bound changes nothing, and more than half of the ", rows, " rows are padding")
                              : std::string("the bound changes nothing"),
            "pack the sequences one after the other and call set_ragged_offset(), or leave out the bound");
    };
    check(Q, "set_max_total_seq_len_q", fields(scope).max_total_seq_len_q);
    check(K, "set_max_total_seq_len_kv", fields(scope).max_total_seq_len_kv);
}

void dbias_is_like_the_bias(RuleScope const& scope) {
    TensorSpec const *const bias = scope.tensor_4d(Bias), *const dbias = scope.tensor_4d(DBias);
    if (bias == nullptr || dbias == nullptr || bias->dim == dbias->dim) return;
    scope.report_port(DBias, text("dBias with dims ", dbias->dim, " for a bias with dims ", bias->dim),
                      "it is summed over the dims where it has 1 itself, whatever the bias has",
                      "give it the dims of the bias, or none to have them inferred, for the gradient of that bias");
}

void sequences_stay_apart(RuleScope const& scope) {
    for (int const port : {Q, K, V, O, DO}) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (tensor == nullptr || tensor->ragged_offset == kNoTensor || tensor->stride.size() != 4) continue;
        if (has_rows_of_all_heads(*tensor)) continue;
        scope.report_port(
            port, text(kPort, " ragged, with strides ", tensor->stride, " for dims ", tensor->dim),
            "sequences overlap unless the offsets leave room for all heads; CPU targets look at that, a GPU "
            "only with SDPA_GRAPH_CHECK_INDICES=1",
            text("lay it out as tokens, heads, elements: strides ", rows_first_strides(tensor->dim)));
    }
}

void stats_are_used(RuleScope const& scope) {
    TensorId const id = scope.node().ports[Stats];
    if (scope.node().kind() != NodeKind::SdpaForward || id == kNoTensor || !scope.tensor(Stats)->is_virtual) return;
    if (scope.uses()[static_cast<std::size_t>(id)].is_read()) return;
    scope.report_port(Stats, "generate_stats on, and Stats that is neither an output nor read by a node",
                      "Stats is computed and lost",
                      "call set_output(true) on it for a later backward, or set_generate_stats(false)");
}

// Lengths that a modifier of the graph reads are there for that.
void lengths_have_padding(RuleScope const& scope) {
    if (fields(scope).padding_mask) return;
    for (int const port : kPortsWhere<is_length>) {
        TensorId const id = scope.node().ports[static_cast<std::size_t>(port)];
        if (id == kNoTensor || scope.uses()[static_cast<std::size_t>(id)].readers.size() > 1) continue;
        scope.report_port(port, text(kPort, " without a padding mask"), "the length changes nothing: no row is masked",
                          "call set_padding_mask(true), or leave out the lengths");
    }
}

void pages_have_padding(RuleScope const& scope) {
    if (!fields(scope).said.is_padding_implied) return;
    scope.report_node("page tables with lengths and without a padding mask",
                      "keys and queries from the lengths on are masked all the same, since they have no memory",
                      "call set_padding_mask(true)");
}

void stated_length_is_of_pages(RuleScope const& scope) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&scope.node().fields);
    if (forward == nullptr || !forward->max_seq_len_kv || has_pages(scope.node())) return;
    scope.report_node(text("set_paged_attention_max_seq_len_kv(", *forward->max_seq_len_kv, ") without a page table"),
                      "the call changes nothing: the dims of K say how many keys there are",
                      "leave the call out, or give K and V their page tables");
}

// Repeated heads and rows, with a stride of 0, are no mistake.
void heads_and_rows_are_apart(RuleScope const& scope) {
    for (int const port : {Q, K, V}) {
        TensorSpec const* const tensor = scope.tensor_4d(port);
        if (tensor == nullptr || tensor->stride.size() != 4) continue;
        core::Dims dim, stride;
        for (std::size_t axis = 1; axis < 4; ++axis) {
            if (tensor->stride[axis] != 0) dim.push_back(tensor->dim[axis]), stride.push_back(tensor->stride[axis]);
        }
        if (!core::overlaps_itself(dim, stride)) continue;
        scope.report_port(
            port, text(kPort, " with dims ", tensor->dim, " and strides ", tensor->stride),
            "heads and rows share elements",
            text("strides ", core::packed_strides(tensor->dim), " where a head's rows follow each other, ",
                 rows_first_strides(tensor->dim), " where a row's heads do"));
    }
}

// Whether a name has one of these among its words, as k_cache has k.
bool has_word(std::string const& name, std::initializer_list<std::string_view> words) {
    std::string word;
    for (char const letter : name + " ") {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        } else {
            if (std::ranges::find(words, word) != words.end()) return true;
            word.clear();
        }
    }
    return false;
}

bool is_named_as_key(std::string const& name) { return has_word(name, {"k", "key", "keys"}); }
bool is_named_as_value(std::string const& name) { return has_word(name, {"v", "value", "values"}); }

void keys_are_no_values(RuleScope const& scope) {
    TensorSpec const *const k = scope.tensor(K), *const v = scope.tensor(V);
    if (k == nullptr || v == nullptr || is_named_as_key(k->name) || is_named_as_value(v->name)) return;
    if (!is_named_as_value(k->name) || !is_named_as_key(v->name)) return;
    scope.report_node(text("tensor '", k->name, "' in K's place, and '", v->name, "' in V's"),
                      "queries are compared with what the names call values, and the keys are summed up",
                      "pass Q, K and V in this order, or rename the tensors");
}

void lengths_have_32_bits(RuleScope const& scope) {
    if (!fields(scope).padding_mask) return;
    for (int const port : {SeqLenQ, SeqLenKv}) {
        TensorSpec const* const lengths = scope.tensor(port);
        if (lengths == nullptr || lengths->data_type != DataType_t::INT64) continue;
        scope.report_port(port, text(kPort, " of type INT64"), "on a GPU each run makes INT32 of it first",
                          "call set_data_type(DataType_t::INT32), and pass lengths of 32 bits");
    }
}

void stats_are_float(RuleScope const& scope) {
    TensorSpec const* const stats = scope.tensor(Stats);
    if (scope.node().kind() != NodeKind::SdpaForward || stats == nullptr || stats->data_type == DataType_t::FLOAT) {
        return;
    }
    scope.report_port(Stats, text("Stats of type ", stats->data_type),
                      "it is computed as FLOAT and rounded, and backward reads FLOAT alone",
                      "call set_data_type(DataType_t::FLOAT), or leave the type open");
}

constexpr error_code_t kNone = error_code_t::OK;

constexpr Rule kAdvice[] = {
    {"advice.a01", "No attention scale is set.", kNone, scale_is_given},
    {"advice.a02", "The attention scale is the square root of the head dim.", kNone, scale_is_below_one},
    {"advice.a03", "With a diagonal from the top left, no query sees half of the keys or more.", kNone, keys_are_seen},
    {"advice.a04", "With a diagonal to the bottom right, the first queries see no key.", kNone, queries_see_keys},
    {"advice.a05", "Both diagonal alignments are set, one after the other.", kNone, alignment_is_said_once},
    {"advice.a06", "A sliding window has no right bound.", kNone, window_ends},
    {"advice.a07", "The ALiBi mask has no right bound.", kNone, alibi_looks_back},
    {"advice.a08", "K or V has more than 64 heads, and at least four for each row.", kNone, heads_are_no_rows},
    {"advice.a09", "Several queries share one key.", kNone, keys_are_several},
    {"advice.a10", "The tokens of all sequences are bounded, of a tensor that is padded.", kNone,
     bounds_are_of_ragged_tensors},
    {"advice.a11", "dBias has other dims than the bias.", kNone, dbias_is_like_the_bias},
    {"advice.a12", "Rows of a ragged tensor do not hold all heads.", kNone, sequences_stay_apart},
    {"advice.a13", "Stats is asked for, and neither an output nor read by a node.", kNone, stats_are_used},
    {"advice.a14", "Lengths come without the padding mask.", kNone, lengths_have_padding},
    {"advice.a15", "Page tables come with lengths and without the padding mask.", kNone, pages_have_padding},
    {"advice.a16", "max_seq_len_kv comes without a page table.", kNone, stated_length_is_of_pages},
    {"advice.a17", "Heads and rows of Q, K or V share elements.", kNone, heads_and_rows_are_apart},
    {"advice.a18", "Tensors named as keys and as values are given in each other's place.", kNone, keys_are_no_values},
    {"advice.a19", "Lengths are INT64.", kNone, lengths_have_32_bits},
    {"advice.a20", "Stats of forward is HALF or BFLOAT16.", kNone, stats_are_float},
};

}  // namespace

std::span<Rule const> attention_advice() { return kAdvice; }

}  // namespace cudnn_frontend::nodes
