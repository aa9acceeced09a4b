#include "expand/attention_steps.h"

#include "attention/masks.h"

#include <utility>
#include <vector>

namespace cudnn_frontend::expand {

using ir::ValueId;
using enum PointwiseMode_t;

ValueId attention_scale(AttentionScope& at) {
    if (at.fields().attn_scale) return at.add_number("scale", double{*at.fields().attn_scale});
    return at.port(Port::AttnScale);
}

// s[b,h,i,j] = sum_d q[b,h,i,d] k[b,h,j,d]. The lengths are used here, so that nothing is read beyond them, and in the
// padding mask, without which padded keys would be part of the softmax.
static ValueId product(AttentionScope& at, ValueId k_transposed, ValueId s) {
    return at.matmul({.a = operand(at, Port::Q),
                      .b = k_transposed,
                      .c = s,
                      .m_override = at.seq_len_q(),
                      .n_override = at.seq_len_kv()});
}

static std::vector<double> alibi_slopes(std::int64_t heads) {
    std::vector<double> slopes;
    for (std::int64_t h = 0; h < heads; ++h) slopes.push_back(attention::alibi_slope(h, heads));
    return slopes;
}

// s[b,h,i,j] += slope[h] (j - i). The distance is the plain one, whatever diagonal the masks follow.
static ValueId add_alibi(AttentionScope& at, ValueId s) {
    std::int64_t const heads = at.score_dim()[1];
    ValueId const row = at.index(s, 2, at.add_index("alibi_row"));
    ValueId const column = at.index(s, 3, at.add_index("alibi_column"));
    ValueId const distance = at.pointwise(SUB, {column, row}, at.add_index("alibi_distance"));
    ValueId const slopes = at.add_table("alibi_slopes", {1, heads, 1, 1}, alibi_slopes(heads));
    ValueId const bias = at.pointwise(MUL, {distance, slopes}, at.add_score("alibi_bias"));
    return at.pointwise(ADD, {s, bias}, at.add_score("alibi_scores"));
}

struct ScoreFactor {
    ValueId value;
    char const* name;  // the name of the scores times it
};

static std::vector<ScoreFactor> factors_of_product(AttentionScope& at, ValueId scale) {
    std::vector<ScoreFactor> factors;
    if (scale != ir::kNoValue) factors.push_back({scale, "scaled_scores"});
    if (at.has_factors()) {
        factors.push_back({at.port(Port::DescaleQ), "scores_by_descale_q"});
        factors.push_back({at.port(Port::DescaleK), "scores_by_descale_k"});
    }
    return factors;
}

// The modifier is shown the last result.
static ValueId scaled_product(AttentionScope& at, ValueId k_transposed, ValueId scale) {
    std::vector<ScoreFactor> const factors = factors_of_product(at, scale);
    auto const result = [&](std::size_t made, char const* name) {
        return made == factors.size() ? at.add_shown_score(Port::Score, name) : at.add_score(name);
    };
    ValueId s = product(at, k_transposed, result(0, "scores"));
    for (std::size_t i = 0; i < factors.size(); ++i) {
        s = at.pointwise(MUL, {s, factors[i].value}, result(i + 1, factors[i].name));
    }
    return s;
}

ValueId scores(AttentionScope& at, ValueId k_transposed, ValueId scale) {
    ValueId s = at.modified(scaled_product(at, k_transposed, scale), Port::Score, Port::ScoreMod);
    ValueId const bias = at.port(Port::Bias);
    if (bias != ir::kNoValue) s = at.pointwise(ADD, {s, bias}, at.add_score("biased_scores"));
    if (at.fields().alibi_mask) s = add_alibi(at, s);
    if (at.has_lengths()) s = mask_padding(at, s);
    return s;
}

static ValueId generated_mask(AttentionScope& at) {
    return at.random({.seed = at.port(Port::Seed),
                      .offset = at.port(Port::Offset),
                      .y = at.is_connected(Port::RngDump) ? at.port(Port::RngDump) : at.add_score("dropout_mask"),
                      .probability = at.keep_probability()});
}

Dropout make_dropout(AttentionScope& at) {
    if (at.generates_dropout()) {
        ValueId const mask = generated_mask(at);
        return {mask, at.add_number("dropout_scale", 1.0 / at.keep_probability())};
    }
    if (at.applies_dropout_mask()) return {at.port(Port::DropoutMask), at.port(Port::DropoutScale)};
    return {};
}

}  // namespace cudnn_frontend::expand
