#include "gpu/cases/random_gpu_case.h"

#include "gpu/cases/case_changes.h"
#include "reference/cases/random_case.h"

#include "support/random.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sdpa_test {

namespace {

// Draws with a generator of its own, which leaves all other draws as they are. Mostly without options that the unified
// operation has no place for.
void choose_form(AttentionCase& c, std::uint64_t index) {
    Random random(80000 + index), of_types(240000 + index);
    if (of_types.chance(0.2)) c.length_type = DataType_t::INT64;
    if (of_types.chance(0.1)) c.stats_type = of_types.chance(0.5) ? DataType_t::HALF : DataType_t::BFLOAT16;
    c.integer_predicates = of_types.chance(0.5);
    c.dynamic_shapes = random.chance(0.06);  // backward: cudnn.s84
    if (Random(160000 + index).chance(0.1)) c.low_scores = true, c.magnitude = 8.0;
    if (!random.chance(0.08) || c.modifier != oracle::Modify::Nothing) return;
    c.implementation = AttentionImplementation_t::UNIFIED;
    if (random.chance(0.2)) return;  // cudnn.s11
    c.bias.reset(), c.mask.reset(), c.sink.reset(), c.left.reset(), c.right.reset();
    c.alibi = c.d_bias = c.d_sink = c.rng_dump = c.logit_max = c.score_sum_exp = false;
    c.dropout = Dropout::None;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// Whether the library's own engine accepts a block mask next to these options (kernels.c04 to c19).
bool accepts_block_mask(AttentionCase const& c) {
    bool const has_type = c.type != DataType_t::FLOAT && c.result_type == c.type && c.stats_type == DataType_t::FLOAT;
    bool const has_shape = c.d_qk <= 192 && c.d_v <= 128 && c.h_k == c.h_v;
    bool const has_layout = is_ragged(c.input_layout) == is_ragged(c.output_layout) && !c.keys_layout;
    return has_type && has_shape && has_layout && c.scale == Scale::Number && c.dropout != Dropout::Mask && !c.paging;
}

bool masks_by_documents(AttentionCase const& c) {
    return c.modifier == oracle::Modify::Documents || c.modifier == oracle::Modify::CappedDocuments;
}

}  // namespace

std::optional<CaseRange> case_range(std::string const& text) {
    auto const dash = text.find('-');
    auto const first = number_of(dash == text.npos ? "0" : std::string_view(text).substr(0, dash));
    auto const end = number_of(std::string_view(text).substr(dash + 1));  // without a dash: the whole text
    if (!first || !end || *first > *end) return std::nullopt;
    return CaseRange{*first, *end};
}

AttentionCase random_gpu_case(std::uint64_t index) {
    constexpr std::int64_t kHeadDims[] = {8, 16, 32, 40, 64, 64, 72, 80, 104, 128, 128, 136, 192, 256};
    constexpr Layout kLayouts[] = {Layout::Bhsd, Layout::Bshd, Layout::Sbhd, Layout::Packed, Layout::WideGaps};
    Random random(9000 + index);
    AttentionCase c = random_wide_case(index, {0.35, 500});
    c.type = c.result_type = random.chance(0.5) ? DataType_t::HALF : DataType_t::BFLOAT16;
    if (c.d_bias) c.bias_type = c.type;  // cudnn.s13
    c.d_qk = random.pick(kHeadDims);
    c.d_v = random.chance(0.7) ? c.d_qk : random.pick(kHeadDims);
    bool const has_ragged_inputs = is_ragged(c.input_layout), has_ragged_results = is_ragged(c.output_layout);
    Layout const input = random.pick(kLayouts), output = random.pick(kLayouts);
    if (!has_ragged_inputs) c.input_layout = input;
    if (!has_ragged_results) c.output_layout = output;
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    if (c.scale == Scale::None) c.scale = Scale::Number;
    // Backward is wrong where such biases and documents mask whole rows or tiles; no limit can detect it.
    if (c.bias && (*c.bias)[3] == 1 && c.bias_type != c.type) c.bias_infinities = Infinities::None;
    if (c.s_kv == 1) c.bias_infinities = Infinities::None;
    bool const keeps_one_key = c.s_kv == 1 || (c.right == 0 && c.alignment == DiagonalAlignment_t::TOP_LEFT);
    if (c.s_q == 1 && keeps_one_key && masks_by_documents(c)) c.modifier = oracle::Modify::Nothing;
    bool const is_whole_bias = c.bias && (*c.bias)[2] == c.s_q && (*c.bias)[3] == c.s_kv;
    c.d_bias = c.d_bias && is_whole_bias;  // cudnn.s12
    c.nan_in_padding = c.paging.wild_entries = false;
    if (c.sink) c.sink = DataType_t::FLOAT;
    if (c.generate_stats || c.sink) c.logit_max = c.score_sum_exp = false;
    if (random.chance(0.05)) c.type = c.result_type = DataType_t::FLOAT;                         // backward: cudnn.s03
    else if (random.chance(0.04)) c.gradient_type = c.type, c.result_type = other_half(c.type);  // backward: cudnn.s74
    choose_form(c, index);
    // Not often, since cuDNN has no engine for one on Hopper (cudnn.s55), and such a case has no backward.
    c.block_mask = accepts_block_mask(c) && Random(320000 + index).chance(0.4);
    return c;
}

// Options that 8-bit kernels of Hopper support, in any combination.
AttentionCase random_fp8_gpu_case(std::uint64_t index) {
    constexpr DataType_t kTypes[] = {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2};
    constexpr std::int64_t kForwardHeadDims[] = {64, 128, 192, 256};
    Random random(70000 + index);
    AttentionCase c = random_gpu_case(index);
    if (c.low_scores) c.low_scores = false, c.magnitude = 1.0;
    c.type = random.chance(0.8) ? kTypes[0] : kTypes[1];
    c.result_type = random.chance(0.8) ? c.type : random.pick(kTypes);
    c.gradient_type = random.pick(kTypes);
    c.odd_factors = random.chance(0.5);
    c.d_qk = c.d_v = random.chance(0.7) ? 128 : random.pick(kForwardHeadDims);  // backward: cudnn.s41
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    c.s_q = std::max(c.s_q, std::int64_t{2});  // cudnn.s44
    c.bias.reset(), c.mask.reset(), c.sink.reset();
    c.alibi = c.d_bias = c.d_sink = c.rng_dump = c.logit_max = c.score_sum_exp = c.deterministic = c.block_mask = false;
    c.dropout = Dropout::None;
    c.modifier = oracle::Modify::Nothing;
    c.implementation = AttentionImplementation_t::AUTO;
    if (is_ragged(c.input_layout)) c.input_layout = Layout::Bshd;  // cudnn.s47
    if (is_ragged(c.output_layout)) c.output_layout = Layout::Bshd;
    if (random.chance(0.8)) c.s_q = (c.s_q + 15) / 16 * 16;  // backward: cudnn.s63
    return c;
}

std::vector<CaseGroup> random_gpu_groups(CaseRange const& range) {
    CaseGroup random{"random", {}}, fp8{"random FP8", {}};
    for (std::uint64_t i = range.first; i < range.end; ++i) {
        random.cases.push_back(random_gpu_case(i));
        if (i % 5 == 0) fp8.cases.push_back(random_fp8_gpu_case(i));
    }
    return {std::move(random), std::move(fp8)};
}

}  // namespace sdpa_test
