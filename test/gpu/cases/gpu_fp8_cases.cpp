#include "gpu/cases/case_changes.h"
#include "gpu/cases/gpu_cases.h"

#include <utility>

namespace sdpa_test {
namespace {

// 8-bit attention supports heads of 128 in both directions, and backward queries in multiples of 16.
constexpr Shape kFp8Shapes[] = {{2, 2, 2, 2, 128, 128, 128, 128},
                                {2, 4, 2, 2, 80, 131, 128, 128},
                                {1, 2, 1, 1, 272, 321, 128, 128},
                                {2, 4, 4, 4, 384, 256, 128, 128}};

CaseGroup fp8_group(std::string const& name, Change const& change, std::string limit = {},
                    std::string backward_limit = {}) {
    CaseGroup made{"FP8" + name, {}, std::move(limit), std::move(backward_limit)};
    std::uint64_t seed = 800;
    for (Shape const& shape : kFp8Shapes) {
        for (DataType_t const gradients : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2}) {
            AttentionCase c = base_case(shape, DataType_t::FP8_E4M3, ++seed);
            c.gradient_type = gradients;
            c.bias_type = c.mask_type = DataType_t::FLOAT;
            change(c);
            made.cases.push_back(std::move(c));
        }
    }
    return made;
}

void fp8_bias(AttentionCase& c) { c.bias = Index4{1, c.h_q, c.s_q, c.s_kv}; }

}  // namespace

std::vector<CaseGroup> fp8_option_groups() {
    auto const capped = modified(oracle::Modify::Softcap, 2.5f);
    return {
        fp8_group("", [](auto&) {}),
        fp8_group(", causal", [](auto& c) { c.right = 0; }),
        fp8_group(", causal, bottom right", [](auto& c) { c.right = 0, bottom_right(c); }),
        fp8_group(", sliding window", [](auto& c) { c.left = 33, c.right = 0; }),
        fp8_group(", padding", lengths),
        fp8_group(", padding and causal", [](auto& c) { lengths(c), c.right = 0; }),
        fp8_group(", an empty sequence", [](auto& c) { lengths(c), c.len_q->front() = c.len_kv->front() = 0; }),
        fp8_group(", bias", fp8_bias, "cudnn.s49"),
        fp8_group(
            ", bias of one number for each head", [](auto& c) { c.bias = of_heads(c); }, "cudnn.s49"),
        fp8_group(
            ", bias of BFLOAT16", [](auto& c) { fp8_bias(c), c.bias_type = DataType_t::BFLOAT16; }, "cudnn.s49"),
        fp8_group(
            ", bias, low rows", [](auto& c) { fp8_bias(c), c.bias_shift = -120.0; }, "cudnn.s49"),
        fp8_group(
            ", alibi and causal", [](auto& c) { c.alibi = true, c.right = 0; }, "cudnn.s49"),
        fp8_group(", softcap", capped, "cudnn.s49", "cudnn.s49"),
        fp8_group(", dropout", dropout, "cudnn.s49", "cudnn.s49"),
        fp8_group(", dropout mask", masked_dropout, "cudnn.s49", "cudnn.s49"),
        fp8_group(
            ", max and sum_exp", [](auto& c) { c.generate_stats = false, c.logit_max = c.score_sum_exp = true; },
            "cudnn.s50"),
        fp8_group(", pages of 16", paged(16, 16)),
        fp8_group(", inference", [](auto& c) { c.generate_stats = false; }),
        fp8_group(", ragged", packed, "cudnn.s47"),
        fp8_group(", sink", sink, "cudnn.s43", "cudnn.s43"),
        fp8_group(
            ", sink without dSink", [](auto& c) { sink(c), c.d_sink = false; }, "cudnn.s43"),
    };
}

std::vector<CaseGroup> fp8_shape_groups() {
    return {
        fp8_group(", E5M2 throughout",
                  [](auto& c) { c.type = c.result_type = DataType_t::FP8_E5M2, c.gradient_type.reset(); }),
        fp8_group(", O of E5M2", [](auto& c) { c.result_type = DataType_t::FP8_E5M2; }),
        fp8_group(
            ", O of BFLOAT16", [](auto& c) { c.result_type = DataType_t::BFLOAT16; }, "cudnn.s42", "cudnn.s67"),
        fp8_group(", no scale", [](auto& c) { c.scale = Scale::None, c.magnitude = 0.3; }),
        fp8_group(", scale on the device", scaled(Scale::Device)),
        fp8_group(
            ", factors embedded", [](auto& c) { c.factors = Scale::Embedded; }, {}, "cudnn.s51"),
        fp8_group(
            ", factors by value", [](auto& c) { c.factors = Scale::ByValue; }, {}, "cudnn.s51"),
        fp8_group(", odd factors", [](auto& c) { c.odd_factors = true; }),
        fp8_group(", head by head", laid_out(Layout::Bhsd)),
        fp8_group(", rows with gaps", laid_out(Layout::WideGaps)),
        fp8_group(", sequence first", laid_out(Layout::Sbhd)),
        fp8_group(", packed Q, K and V", [](auto& c) { laid_out(Layout::Packed)(c), c.s_kv = c.s_q; }),
        fp8_group(", key and value heads differ", [](auto& c) { c.h_q = 4, c.h_k = 2, c.h_v = 1; }),
        fp8_group(", large scores", [](auto& c) { c.magnitude = 6.0; }),
        fp8_group(
            ", few queries", [](auto& c) { c.s_q = 3; }, {}, "cudnn.s63"),
        fp8_group(
            ", fewer heads in V than in K", [](auto& c) { c.h_q = c.h_k = 2, c.h_v = 1; }, {}, "cudnn.s64"),
        fp8_group(", one query", decode(200), "cudnn.s44", "cudnn.s63"),
        fp8_group(", heads of 64", head_dims(64, 64), {}, "cudnn.s41"),
        fp8_group(", heads of 80 and 48", head_dims(80, 48), {}, "cudnn.s41"),
        fp8_group(", heads of 192 and 128", head_dims(192, 128), {}, "cudnn.s41"),
        fp8_group(", heads of 256", head_dims(256, 256), {}, "cudnn.s41"),
        fp8_group(
            ", deterministic", [](auto& c) { c.deterministic = true; }, {}, "cudnn.s48"),
    };
}

}  // namespace sdpa_test
