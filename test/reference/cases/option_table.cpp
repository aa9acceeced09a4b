#include "reference/cases/option_table.h"

namespace sdpa_test {
namespace {

using Change = std::function<void(AttentionCase&)>;

void nothing(AttentionCase&) {}

Change lengths(std::vector<std::int64_t> const& q, std::vector<std::int64_t> const& kv) {
    return [=](AttentionCase& c) { c.len_q = q, c.len_kv = kv; };
}

Change sums(std::vector<std::int64_t> const& q, std::vector<std::int64_t> const& kv) {
    return [=](AttentionCase& c) { c.len_q = q, c.len_kv = kv, c.sums_of_lengths = true; };
}

void causal(AttentionCase& c) { c.right = 0; }

Change causal_shorthand(DiagonalAlignment_t alignment) {
    return [=](AttentionCase& c) { c.right = 0, c.shorthands = true, c.alignment = alignment; };
}

Change scaled(Scale scale) {
    return [=](AttentionCase& c) { c.scale = scale, c.scale_value = 0.4f; };
}

Change biased(Index4 const& dim) {
    return [=](AttentionCase& c) { c.bias = dim, c.d_bias = true; };
}

void sink(AttentionCase& c) { c.sink = DataType_t::FLOAT, c.d_sink = true, c.sink_shift = 1.0; }

void dropout(AttentionCase& c) {
    c.dropout = Dropout::Probability, c.dropout_probability = 0.4f;
    c.rng_seed = 77, c.rng_offset = 5, c.rng_dump = true;
}

Change masked_dropout(Index4 const& dim) {
    return [=](AttentionCase& c) { c.dropout = Dropout::Mask, c.dropout_probability = 0.4f, c.mask = dim; };
}

Change modified(oracle::Modify modifier, float number) {
    return [=](AttentionCase& c) {
        c.modifier = modifier, c.modifier_number = number;
        c.modifier_reach = 4, c.modifier_step = 2;
    };
}

}  // namespace

AttentionCase small_case() {
    AttentionCase c;
    c.seed = 42;
    c.b = 2, c.h_q = 4, c.h_k = 2, c.h_v = 1, c.s_q = 5, c.s_kv = 7, c.d_qk = 6, c.d_v = 4;
    return c;
}

std::vector<Option> const& all_options() {
    auto const full = lengths({5, 5}, {7, 7});
    static std::vector<Option> const options = {
        {"attn_scale as a number", nothing, scaled(Scale::Number), 0.15},
        {"attn_scale as an embedded tensor", nothing, scaled(Scale::Embedded), 0.15},
        {"attn_scale as a tensor by value", nothing, scaled(Scale::ByValue), 0.15},
        {"attn_scale as a tensor in memory", nothing, scaled(Scale::Device), 0.15},
        {"bias", nothing, biased({2, 4, 5, 7}), 0.15},
        {"bias over heads and keys", nothing, biased({1, 4, 1, 7}), 0.15},
        {"bias over batch and keys", nothing, biased({2, 1, 1, 7}), 0.15},
        {"sink_token", nothing, sink, 0.15},
        {"sink_token of many rows without keys", lengths({5, 5}, {2, 0}),
         [=](auto& c) {
             lengths({5, 5}, {2, 0})(c), sink(c);
         },
         0.15},
        {"alibi_mask", nothing, [](auto& c) { c.alibi = true; }, 0.15},
        {"score modifier: softcap", nothing, modified(oracle::Modify::Softcap, 0.5f), 0.15},
        {"score modifier: softcap, then documents", nothing, modified(oracle::Modify::CappedDocuments, 0.5f), 0.3},
        {"score modifier: alibi of given slopes", nothing, modified(oracle::Modify::Slopes, 0.0f), 0.15},
        {"score modifier: relative bias", nothing, modified(oracle::Modify::Relative, 0.3f), 0.15},
        {"score modifier: distance by heads", nothing, modified(oracle::Modify::HeadDistance, 0.3f), 0.15},
        {"score modifier: documents", nothing, modified(oracle::Modify::Documents, 0.0f), 0.3},
        {"score modifier: prefix", nothing, modified(oracle::Modify::Prefix, 0.0f), 0.15},
        {"score modifier: dilated window", nothing, modified(oracle::Modify::Dilated, 0.0f), 0.3},
        {"padding_mask with seq_len_q", full, lengths({3, 5}, {7, 7}), 0.15},
        {"padding_mask with seq_len_kv", full, lengths({5, 5}, {7, 4}), 0.3},
        {"padding_mask with cu_seq_len_q", full, sums({3, 5}, {7, 7}), 0.15},
        {"padding_mask with cu_seq_len_kv", full, sums({5, 5}, {7, 4}), 0.3},
        {"diagonal_band_right_bound", nothing, [](auto& c) { c.right = 1; }, 0.4},
        {"diagonal_band_left_bound", nothing, [](auto& c) { c.left = 2; }, 0.2},
        {"diagonal_alignment", causal, [](auto& c) { c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT; }, 0.4},
        {"causal_mask", nothing, causal_shorthand(DiagonalAlignment_t::TOP_LEFT), 0.4},
        {"causal_mask_bottom_right", nothing, causal_shorthand(DiagonalAlignment_t::BOTTOM_RIGHT), 0.3},
        {"sliding_window_length", causal, [](auto& c) { c.left = 2, c.shorthands = true; }, 0.4},
        {"dropout", nothing, dropout, 0.2, false},
        {"dropout seed", dropout, [](auto& c) { c.rng_seed = 78; }, 0.3, false},
        {"dropout offset", dropout, [](auto& c) { c.rng_offset = 6; }, 0.4, false},
        {"dropout with a mask", nothing, masked_dropout({2, 4, 5, 7}), 0.25, false},
        {"dropout with a mask over keys", nothing, masked_dropout({1, 1, 1, 7}), 0.3, false},
    };
    return options;
}

}  // namespace sdpa_test
