#include "gpu/cases/gpu_cases.h"

#include "gpu/cases/case_changes.h"

namespace sdpa_test {
namespace {

void unify(AttentionCase& c) { c.implementation = AttentionImplementation_t::UNIFIED; }

void with_whole_bias_gradient(AttentionCase& c) {
    c.bias = Index4{1, c.h_q, c.s_q, c.s_kv};
    c.d_bias = true;
}

std::vector<CaseGroup> shapes_at_limits() {
    auto const heads = [](std::int64_t qk, std::int64_t v) {
        return [=](AttentionCase& c) { c.d_qk = qk, c.d_v = v; };
    };
    return {
        group("O of the other half type",
              [](auto& c) { c.gradient_type = c.type, c.result_type = other_half(c.type); }),
        group("O of floats", [](auto& c) { c.gradient_type = c.type, c.result_type = DataType_t::FLOAT; }),
        group("floats, O of halves", [](auto& c) { c.type = DataType_t::FLOAT; }),
        group("gradients of the other half type", [](auto& c) { c.gradient_type = other_half(c.type); }),
        group("gradients of floats", [](auto& c) { c.gradient_type = DataType_t::FLOAT; }),
        group("heads of 20", heads(20, 20)),
        group("heads of 192", heads(192, 192)),
        group("heads of 160 and 128", heads(160, 128)),
        group("heads of 256 and 128", heads(256, 128)),
        group("heads of 192 and 64", heads(192, 64)),
        group("heads of 128 and 192", heads(128, 192)),
        group("heads of 320", heads(320, 320)),
        group("rows 134 bytes apart", [](auto& c) { c.d_qk = c.d_v = 64, c.input_layout = Layout::Gaps; }),
        group("one query and one key", [](auto& c) { c.s_q = c.s_kv = 1; }),
    };
}

std::vector<CaseGroup> implementations_at_limits() {
    return {
        group("unified and causal", [](auto& c) { unify(c), c.right = 0; }),
        group("unified and alibi", [](auto& c) { unify(c), c.alibi = true; }),
        group("unified and bias", [](auto& c) { unify(c), biased(false, true, true)(c), c.d_bias = false; }),
        group("unified and dropout mask", [](auto& c) { unify(c), masked_dropout(c); }),
        group("floats, unified", [](auto& c) { unify(c), c.type = c.result_type = DataType_t::FLOAT; }),
        group("unified, O of the other half type",
              [](auto& c) { unify(c), c.gradient_type = c.type, c.result_type = other_half(c.type); }),
        group("unified, dynamic shapes", [](auto& c) { unify(c), c.dynamic_shapes = true; }),
        group("block mask, padding", [](auto& c) { c.block_mask = true, lengths(c); }),
        group("block mask, one query", [](auto& c) { c.block_mask = true, c.s_q = 1; }),
        group("block mask and causal", [](auto& c) { c.block_mask = true, c.right = 0; }),
        group("block mask, composite",
              [](auto& c) { c.block_mask = true, c.implementation = AttentionImplementation_t::COMPOSITE; }),
    };
}

std::vector<CaseGroup> scores_at_limits() {
    return {
        group("stats in base 2", [](auto& c) { c.stats_use_log2 = true; }),
        group("dBias of one row", biased(false, true, false)),
        group("dBias of floats", [](auto& c) { with_whole_bias_gradient(c), c.bias_type = DataType_t::FLOAT; }),
        group("dBias of the other half type",
              [](auto& c) { with_whole_bias_gradient(c), c.bias_type = other_half(c.type); }),
        group("dBias, the scale on the device", [](auto& c) { with_whole_bias_gradient(c), c.scale = Scale::Device; }),
        group("one query, bias of one column",
              [](auto& c) {
                  c.s_q = 1, c.bias = Index4{c.b, c.h_q, 1, 1};
              }),
        group("one query, bias of one number for each head", [](auto& c) { c.s_q = 1, c.bias = of_heads(c); }),
        group("bias, transposed", with_scores(Layout::Transposed, biased(true, true, true))),
        group("dropout mask, transposed", with_scores(Layout::Transposed, masked_dropout)),
        group("softcap and dBias",
              [](auto& c) {
                  c.modifier = oracle::Modify::Softcap, c.modifier_number = 2.5f;
                  with_whole_bias_gradient(c);
              }),
        group("window by a modifier, left bound",
              [](auto& c) { c.modifier = oracle::Modify::Window, c.modifier_reach = 20, c.left = 50; }),
        group("one key, documents and a dropout mask",
              [](auto& c) { c.modifier = oracle::Modify::Documents, c.s_kv = 1, masked_dropout(c); }),
    };
}

Change one_key(bool b, bool h) {
    return [=](AttentionCase& c) {
        one_number(b, h)(c);
        c.s_q = 40, c.s_kv = 1;
    };
}

std::vector<CaseGroup> dropout_at_limits() {
    return {
        group("dropout mask of one column", [](auto& c) { masked_dropout(c), (*c.mask)[3] = 1; }),
        group("dropout mask of one number for each batch entry",
              [](auto& c) {
                  masked_dropout(c), c.mask = Index4{c.b, 1, 1, 1};
              }),
        group("dropout mask of one column, dBias",
              [](auto& c) { with_whole_bias_gradient(c), masked_dropout(c), (*c.mask)[3] = 1; }),
        group("dropout mask and bias of one column",
              [](auto& c) {
                  masked_dropout(c), (*c.mask)[3] = 1;
                  c.bias = Index4{1, c.h_q, c.s_q, 1};
              }),
        group("dropout mask of one column, bias of one number for each head",
              [&](auto& c) {
                  masked_dropout(c), (*c.mask)[3] = 1;
                  c.bias = of_heads(c);
              }),
        group("dropout mask of one number for each head, dBias",
              [&](auto& c) { with_whole_bias_gradient(c), masked_dropout(c), c.mask = of_heads(c); }),
        group("dropout mask of one number for each head, documents",
              [&](auto& c) { c.modifier = oracle::Modify::Documents, masked_dropout(c), c.mask = of_heads(c); }),
        group("one key, bias of one number for each head", [](auto& c) { c.s_kv = 1, c.bias = of_heads(c); }),
        group("one key, bias and dropout mask of one number for each head",
              [&](auto& c) { c.s_kv = 1, masked_dropout(c), c.bias = c.mask = of_heads(c); }),
        group("one key, dropout mask of one number", one_key(false, false)),
        group("one key, dropout mask of one number for each batch entry", one_key(true, false)),
        group("one key, dropout mask of one number for each head", one_key(false, true)),
        group("one key, dropout mask of one number each", one_key(true, true)),
        group("one query, dropout mask of one number each", one_number(true, true)),
        group("dropout mask of floats", [](auto& c) { masked_dropout(c), c.mask_type = DataType_t::FLOAT; }),
        group("one key, dropout mask", [](auto& c) { c.s_kv = 1, masked_dropout(c); }),
        group("one key, bias",
              [](auto& c) {
                  c.s_kv = 1, c.bias = Index4{c.b, c.h_q, c.s_q, 1};
              }),
        group("one key, bias and dropout mask", [](auto& c) { c.s_kv = 1, masked_dropout(c), c.bias = c.mask; }),
        group("one key, bias, transposed", with_scores(Layout::Transposed,
                                                       [](auto& c) {
                                                           c.s_kv = 1, c.bias = Index4{c.b, c.h_q, c.s_q, 1};
                                                       })),
        group("one key, dropout mask, transposed",
              with_scores(Layout::Transposed, [](auto& c) { c.s_kv = 1, masked_dropout(c); })),
        group("bias of one column, transposed", with_scores(Layout::Transposed,
                                                            [](auto& c) {
                                                                c.bias = Index4{c.b, c.h_q, c.s_q, 1};
                                                            })),
    };
}

CaseGroup fp8_at_limit(char const* name, Change const& change) {
    return group(name, [&](AttentionCase& c) {
        c.type = c.result_type = DataType_t::FP8_E4M3;
        c.gradient_type = DataType_t::FP8_E5M2;
        c.s_q = 80;
        change(c);
    });
}

std::vector<CaseGroup> fp8_at_limits() {
    return {
        fp8_at_limit("FP8, heads of 72", [](auto& c) { c.d_qk = c.d_v = 72, c.input_layout = Layout::Bhsd; }),
        fp8_at_limit("FP8, heads of 272", head_dims(272, 272)),
        fp8_at_limit("FP8, heads of 128 and 64", head_dims(128, 64)),
        fp8_at_limit("FP8, ragged, a sequence without queries", [](auto& c) { packed(c), c.len_q->front() = 0; }),
        fp8_at_limit("FP8, sink and dSink", sink),
        fp8_at_limit("FP8, lengths and window, bottom right",
                     [](auto& c) { head_dims(128, 128)(c), lengths(c), c.left = 33, c.right = 0, bottom_right(c); }),
    };
}

// Their numbers have a distance of two elements.
Change apart(Change const& change) {
    return [=](AttentionCase& c) { c.numbers_apart = true, change(c); };
}

std::vector<CaseGroup> lengths_at_limits() {
    return {
        group("lengths apart", apart(lengths)),
        group("Stats of one query, apart", [](auto& c) { c.b = 1, c.stats_layout = Layout::Gaps, decode(200)(c); }),
        group("ragged, offsets apart", apart(packed)),
        group("sink and dSink apart", apart(sink)),
        group("slopes apart", apart(modified(oracle::Modify::Slopes))),
        group("bias of one number for each head, apart", apart([](auto& c) { c.bias = of_heads(c); })),
        group("dropout mask of one number for each head, apart",
              apart([](auto& c) { masked_dropout(c), c.mask = of_heads(c); })),
        group("lengths as sums", [](auto& c) { lengths(c), c.sums_of_lengths = true; }),
        group("lengths as sums, causal", [](auto& c) { lengths(c), c.sums_of_lengths = true, c.right = 0; }),
        group("ragged, offsets in rows", [](auto& c) { packed(c), c.offsets_in_rows = true; }),
        group("ragged, offsets in rows, lengths as sums",
              [](auto& c) { packed(c), c.offsets_in_rows = c.sums_of_lengths = true; }),
    };
}

}  // namespace

std::vector<CaseGroup> block_mask_groups() {
    auto const masked = [](Change const& change) {
        return [=](AttentionCase& c) { head_dims(128, 128)(c), c.s_kv += 500, c.block_mask = true, change(c); };
    };
    return {
        group("block mask and bias", masked([](auto& c) { biased(true, true, true)(c), c.d_bias = false; })),
        group("block mask and dropout", masked(dropout)),
        group("block mask, packed sequences", masked(packed)),
    };
}

std::vector<CaseGroup> groups_at_limits() {
    std::vector<CaseGroup> all;
    for (auto const& groups : {shapes_at_limits(), implementations_at_limits(), scores_at_limits(), dropout_at_limits(),
                               fp8_at_limits(), lengths_at_limits()}) {
        all.insert(all.end(), groups.begin(), groups.end());
    }
    return all;
}

}  // namespace sdpa_test
