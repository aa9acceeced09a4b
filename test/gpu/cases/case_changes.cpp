#include "gpu/cases/case_changes.h"

#include <cmath>
#include <utility>

namespace sdpa_test {

// A round one, an odd one with grouped heads, one of several tiles, one with few queries.
static constexpr Shape kShapes[] = {{2, 2, 2, 2, 128, 128, 64, 64},
                                    {2, 4, 2, 2, 67, 131, 128, 128},
                                    {1, 2, 1, 1, 257, 321, 128, 128},
                                    {2, 4, 1, 1, 3, 200, 64, 64}};

AttentionCase base_case(Shape const& shape, DataType_t type, std::uint64_t seed) {
    AttentionCase c;
    c.seed = seed;
    c.type = c.result_type = c.bias_type = c.mask_type = type;
    c.b = shape.b, c.h_q = shape.h_q, c.h_k = shape.h_k, c.h_v = shape.h_v;
    c.s_q = shape.s_q, c.s_kv = shape.s_kv, c.d_qk = shape.d_qk, c.d_v = shape.d_v;
    c.input_layout = c.output_layout = Layout::Bshd;
    c.scale = Scale::Number;
    c.scale_value = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.d_qk)));
    return c;
}

CaseGroup group(std::string name, Change const& change, std::string limit, std::string backward_limit) {
    CaseGroup made{std::move(name), {}, std::move(limit), std::move(backward_limit)};
    std::uint64_t seed = 100;
    for (Shape const& shape : kShapes) {
        for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
            made.cases.push_back(base_case(shape, type, ++seed));
            change(made.cases.back());
        }
    }
    return made;
}

void lengths(AttentionCase& c) {
    c.len_q = std::vector<std::int64_t>(static_cast<std::size_t>(c.b), c.s_q);
    c.len_kv = std::vector<std::int64_t>(static_cast<std::size_t>(c.b), c.s_kv);
    c.len_q->front() = c.s_q / 2 + 1;
    c.len_kv->front() = c.s_kv / 3 + 1;
}

void packed(AttentionCase& c) { lengths(c), laid_out(Layout::Ragged)(c); }
void bottom_right(AttentionCase& c) { c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT; }

Change biased(bool b, bool h, bool q) {
    return [=](AttentionCase& c) {
        c.bias = Index4{b ? c.b : 1, h ? c.h_q : 1, q ? c.s_q : 1, c.s_kv};
        c.d_bias = true;
    };
}

void dropout(AttentionCase& c) {
    c.dropout = Dropout::Probability, c.dropout_probability = 0.25f;
    c.rng_seed = 1234, c.rng_offset = 8, c.rng_dump = true;
}

void masked_dropout(AttentionCase& c) {
    c.dropout = Dropout::Mask, c.dropout_probability = 0.25f;
    c.mask = Index4{c.b, c.h_q, c.s_q, c.s_kv};
}

Change one_number(bool b, bool h) {
    return [=](AttentionCase& c) {
        c.b = 7, c.h_q = 6, c.h_k = c.h_v = c.h_k == 1 ? 3 : 6;
        decode(208)(c), masked_dropout(c);
        c.dropout_probability = 0.5f, c.mask = Index4{b ? c.b : 1, h ? c.h_q : 1, 1, 1};
    };
}

DataType_t other_half(DataType_t type) { return type == DataType_t::HALF ? DataType_t::BFLOAT16 : DataType_t::HALF; }

Change scaled(Scale scale) {
    return [=](AttentionCase& c) { c.scale = scale; };
}

Change laid_out(Layout layout) {
    return [=](AttentionCase& c) { c.input_layout = c.output_layout = layout; };
}

Change head_dims(std::int64_t qk, std::int64_t v) {
    return [=](AttentionCase& c) {
        c.d_qk = qk, c.d_v = v;
        c.scale_value = static_cast<float>(1.0 / std::sqrt(static_cast<double>(qk)));
    };
}

Change decode(std::int64_t keys) {
    return [=](AttentionCase& c) { c.s_q = 1, c.s_kv = keys; };
}

Change modified(oracle::Modify modifier, float number) {
    return [=](AttentionCase& c) {
        c.modifier = modifier, c.modifier_number = number;
        c.modifier_reach = 40, c.modifier_step = 3;
    };
}

Change paged(std::int64_t k_rows, std::int64_t v_rows) {
    return [=](AttentionCase& c) { lengths(c), c.paging.k_rows = k_rows, c.paging.v_rows = v_rows; };
}

Change with_scores(Layout layout, Change const& change) {
    return [=](AttentionCase& c) { c.scores_layout = layout, change(c); };
}

Index4 of_heads(AttentionCase const& c) { return {1, c.h_q, 1, 1}; }

void low_scores(AttentionCase& c) { c.low_scores = true, c.magnitude = 8.0; }

void sink(AttentionCase& c) { c.sink = DataType_t::FLOAT, c.d_sink = true; }

}  // namespace sdpa_test
