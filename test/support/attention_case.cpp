#include "support/attention_case.h"

#include <sstream>

namespace sdpa_test {
namespace {

char const* text_of(Layout layout) {
    constexpr char const* kNames[] = {"BHSD",
                                      "BSHD",
                                      "SBHD",
                                      "packed",
                                      "gaps",
                                      "wide gaps",
                                      "shared batch",
                                      "transposed",
                                      "ragged",
                                      "ragged with gaps",
                                      "ragged rows in one buffer",
                                      "ragged heads in one buffer",
                                      "ragged in slots"};
    return kNames[static_cast<int>(layout)];
}

char const* text_of(Scale scale) {
    constexpr char const* kNames[] = {"none", "number", "embedded", "by value", "device"};
    return kNames[static_cast<int>(scale)];
}

std::string lengths(std::vector<std::int64_t> const& values) {
    std::string text;
    for (std::int64_t value : values) text += " " + std::to_string(value);
    return text;
}

void describe_modifier(AttentionCase const& c, std::ostream& out) {
    constexpr char const* kNames[] = {
        "nothing", "softcap",        "slopes", "relative", "distance by heads", "documents",    "capped documents",
        "prefix",  "dilated window", "causal", "window",   "bottom causal",     "bottom window"};
    if (c.modifier == oracle::Modify::Nothing) return;
    out << ", modifier " << kNames[static_cast<int>(c.modifier)] << " " << c.modifier_number << " " << c.modifier_reach
        << "/" << c.modifier_step << (c.integer_predicates ? " by INT32" : "");
}

void describe_masks(AttentionCase const& c, std::ostream& out) {
    if (c.alibi) out << ", alibi";
    if (c.len_q) out << ", len_q" << lengths(*c.len_q);
    if (c.len_kv) out << ", len_kv" << lengths(*c.len_kv);
    if (c.length_type != DataType_t::INT32) out << ", lengths " << name_of(c.length_type);
    if (c.omits_padding_mask) out << ", padding mask not set";
    if (c.stats_type != DataType_t::FLOAT) out << ", stats " << name_of(c.stats_type);
    out << (c.sums_of_lengths ? ", as sums" : "") << (c.offsets_in_rows ? ", offsets in rows" : "")
        << (c.numbers_apart ? ", numbers apart" : "") << (c.bounds_rows ? ", bounded rows" : "");
    if (c.nan_in_padding) out << ", NaN in padding";
    if (c.wild_rows) out << ", wild rows";
    if (c.paging) {
        out << ", pages of " << c.paging.k_rows << "/" << c.paging.v_rows
            << (c.paging.packed_tables ? ", packed tables" : "") << (c.paging.wide_tables ? ", wide tables" : "")
            << (c.paging.wild_entries ? ", wild entries" : "") << (c.paging.states_length ? "" : ", length not stated");
    }
    if (c.block_mask) out << ", block mask";
    if (c.stale_padding) out << ", stale padding";
    if (c.alignment == DiagonalAlignment_t::BOTTOM_RIGHT) out << ", bottom right";
    if (c.left) out << ", left " << *c.left;
    if (c.right) out << ", right " << *c.right;
    if (c.shorthands) out << ", shorthands";
}

constexpr char const* kInfinities[] = {"",           " with -inf", " with rows of -inf", " with tiles of -inf",
                                       " with +inf", " with NaN"};

void describe_dropout(AttentionCase const& c, std::ostream& out) {
    if (c.dropout == Dropout::Probability) {
        out << ", dropout " << c.dropout_probability << " " << name_of(c.rng_type) << " seed " << c.rng_seed
            << " offset " << c.rng_offset << (c.rng_dump ? " dumped" : "");
    }
    if (c.dropout == Dropout::Mask) {
        out << ", dropout mask " << name_of(c.mask_type) << " " << to_string(*c.mask) << " p " << c.dropout_probability
            << (c.exchanged_mask ? " exchanged with its scale" : "");
    }
    if (c.scalars_by_value) out << ", its scalars by value";
}

}  // namespace

std::string describe(AttentionCase const& c) {
    std::ostringstream out;
    out << name_of(c.type) << " -> " << name_of(c.result_type);
    if (c.gradient_type) out << ", gradients " << name_of(*c.gradient_type);
    out << " b " << c.b << " h " << c.h_q << "/" << c.h_k << "/" << c.h_v << " s " << c.s_q << "/" << c.s_kv << " d "
        << c.d_qk << "/" << c.d_v << ", layouts " << text_of(c.input_layout) << " -> " << text_of(c.output_layout)
        << ", data seed " << c.seed << " magnitude " << c.magnitude << (c.low_scores ? ", low scores" : "")
        << (c.explicit_uids ? "" : ", keyed by tensor") << (c.generate_stats ? "" : ", no stats");
    if (c.zero_columns > 0) out << ", zeros in the last " << c.zero_columns << " columns";
    out << ", scale " << text_of(c.scale);
    if (c.scale != Scale::None) out << " " << c.scale_value;
    if (c.bias) {
        out << ", bias " << name_of(c.bias_type) << " " << to_string(*c.bias)
            << kInfinities[static_cast<std::size_t>(c.bias_infinities)] << " shift " << c.bias_shift
            << (c.d_bias ? " with dBias" : "") << (c.d_bias_dim ? " " + to_string(*c.d_bias_dim) : "");
    }
    describe_modifier(c, out);
    if (c.sink) {
        out << ", sink " << name_of(*c.sink) << " shift " << c.sink_shift << (c.d_sink ? " with dSink" : "");
    }
    if (c.keys_layout) out << ", keys " << text_of(*c.keys_layout);
    if (c.stats_layout) out << ", stats " << text_of(*c.stats_layout);
    if (c.scores_layout && (c.bias || c.mask)) out << ", bias and mask " << text_of(*c.scores_layout);
    out << (c.logit_max ? ", max" : "") << (c.score_sum_exp ? ", sum_exp" : "")
        << (c.stats_use_log2 ? ", stats in base 2" : "");
    describe_masks(c, out);
    describe_dropout(c, out);
    if (c.implementation == AttentionImplementation_t::COMPOSITE) out << ", composite";
    if (c.implementation == AttentionImplementation_t::UNIFIED) out << ", unified";
    if (c.deterministic) out << ", deterministic";
    if (c.dynamic_shapes) out << ", dynamic shapes";
    constexpr char const* kResults[] = {"O", "Stats", "dQ", "dK", "dV"};
    for (AttentionResult const result : c.left_out) out << ", without " << kResults[static_cast<int>(result)];
    if (is_fp8(c.type)) out << (c.odd_factors ? ", odd factors " : ", factors ") << text_of(c.factors);
    return out.str();
}

}  // namespace sdpa_test
