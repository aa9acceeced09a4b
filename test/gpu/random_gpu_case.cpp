#include "gpu/gpu_cases.h"
#include "reference/random_case.h"

#include "support/random.h"

#include <cmath>

namespace sdpa_test {

AttentionCase random_gpu_case(std::uint64_t index) {
    constexpr std::int64_t kHeadDims[] = {8, 16, 32, 40, 64, 64, 80, 128, 128, 192};
    constexpr Layout kLayouts[] = {Layout::BHSD, Layout::BSHD, Layout::SBHD, Layout::Packed};
    Random random(9000 + index);
    AttentionCase c = random_wide_case(index);
    c.type = c.result_type = c.mask_type = random.chance(0.5) ? DataType_t::HALF : DataType_t::BFLOAT16;
    if (c.bias_type != DataType_t::FLOAT || c.d_bias) c.bias_type = c.type;
    c.d_qk = random.pick(kHeadDims);
    c.d_v = random.chance(0.7) ? c.d_qk : random.pick(kHeadDims);
    bool const has_ragged_inputs = is_ragged(c.input_layout), has_ragged_results = is_ragged(c.output_layout);
    Layout const input = random.pick(kLayouts), output = random.pick(kLayouts);
    if (!has_ragged_inputs) c.input_layout = input;
    if (!has_ragged_results) c.output_layout = output;
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    if (c.scale == Scale::None) c.scale = Scale::Number;
    c.bias_has_infinities = false;
    bool const is_whole_bias = c.bias && (*c.bias)[2] == c.s_q && (*c.bias)[3] == c.s_kv;
    c.d_bias = c.d_bias && is_whole_bias;             // cudnn.s12
    if (c.mask && c.s_kv > 1) (*c.mask)[3] = c.s_kv;  // cudnn.s14
    c.nan_in_padding = c.paging.wild_entries = false;
    c.block_mask = false;  // cudnn.s55
    if (c.sink) c.sink = DataType_t::FLOAT;
    if (c.generate_stats || c.sink) c.logit_max = c.score_sum_exp = false;
    return c;
}

}  // namespace sdpa_test
