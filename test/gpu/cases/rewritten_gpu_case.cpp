#include "gpu/cases/rewritten_gpu_case.h"

#include "reference/cases/rewrite_case.h"

#include "support/random.h"

#include <cmath>

namespace sdpa_test {
namespace {

using cudnn_frontend::Rewrite_t;

// Multiplies all lengths and bounds by the factor, so that the rewrite still applies.
void lengthen(AttentionCase& c, std::int64_t factor) {
    c.s_q *= factor, c.s_kv *= factor;
    for (auto* const lengths : {&c.len_q, &c.len_kv}) {
        if (!*lengths) continue;
        for (std::int64_t& length : **lengths) length *= factor;
    }
    for (auto* const bound : {&c.left, &c.right}) {
        if (*bound) **bound *= static_cast<int>(factor);
    }
    if (c.bias) (*c.bias)[2] = c.s_q, (*c.bias)[3] = c.s_kv;
}

AttentionCase for_tensor_cores(AttentionCase c, Random& random) {
    constexpr std::int64_t kHeadDims[] = {8, 16, 32, 40, 64, 64, 72, 80, 104, 128, 128, 128};
    c.type = c.result_type = random.chance(0.5) ? DataType_t::HALF : DataType_t::BFLOAT16;
    if (c.bias) c.bias_type = c.type;
    c.d_qk = random.pick(kHeadDims);
    c.d_v = random.chance(0.8) ? c.d_qk : random.pick(kHeadDims);
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    if (c.scale == Scale::None) c.scale = Scale::Number;
    if (c.d_bias && c.scale == Scale::Device) c.scale = Scale::ByValue;  // cudnn.s17
    for (Layout* const layout : {&c.input_layout, &c.output_layout}) {
        if (*layout == Layout::Gaps) *layout = Layout::WideGaps;  // rows at multiples of 16 bytes
    }
    return c;
}

}  // namespace

std::vector<CaseGroup> rewritten_gpu_groups(CaseRange const& range) {
    CaseGroup queries{.name = "rewritten for few queries", .cases = {}, .rewriting = Rewrite_t::FEW_QUERIES};
    CaseGroup bands{.name = "rewritten as bands", .cases = {}, .rewriting = Rewrite_t::BANDS};
    CaseGroup slices{.name = "rewritten as slices", .cases = {}, .rewriting = Rewrite_t::SLICES};
    CaseGroup classes{.name = "rewritten as classes", .cases = {}, .rewriting = cudnn_frontend::ShapePolicy_t::CLASSES};
    for (std::uint64_t i = range.first + range.first % 2; i < range.end; i += 2) {
        Random random(90000 + i);
        std::uint64_t const number = i / 2;
        queries.cases.push_back(for_tensor_cores(few_queries_case(number), random));
        bands.cases.push_back(for_tensor_cores(bands_case(number), random));
        lengthen(bands.cases.back(), random.between(1, 6));
        slices.cases.push_back(for_tensor_cores(slices_case(number), random));
        lengthen(slices.cases.back(), random.between(1, 8));
        classes.cases.push_back(for_tensor_cores(class_case(number), random));
        lengthen(classes.cases.back(), random.between(1, 6));
    }
    return {std::move(queries), std::move(bands), std::move(slices), std::move(classes)};
}

}  // namespace sdpa_test
