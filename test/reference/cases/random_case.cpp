#include "reference/cases/random_case.h"

#include "support/random.h"

#include <cmath>

namespace sdpa_test {
namespace {

constexpr std::uint64_t kSweepSeed = 20240607;

std::int64_t divisor_of(std::int64_t number, Random& random) {
    std::int64_t divisor = random.between(1, number);
    while (number % divisor != 0) --divisor;
    return divisor;
}

std::int64_t random_length(Random& random) {
    if (random.chance(0.1)) return 1;
    return random.chance(0.5) ? random.between(2, 24) : random.between(25, 70);
}

void choose_shape(AttentionCase& c, Random& random, LongShapes long_cases) {
    constexpr std::int64_t kHeadDims[] = {1, 2, 3, 5, 8, 16, 17, 24, 32, 40, 48};
    c.b = random.between(1, 3);
    c.h_q = random.chance(0.25) ? 1 : random.between(2, 6);
    c.h_k = random.chance(0.5) ? c.h_q : divisor_of(c.h_q, random);
    c.h_v = random.chance(0.7) ? c.h_k : divisor_of(c.h_q, random);
    c.s_q = random_length(random);
    c.s_kv = random.chance(0.35) ? c.s_q : random_length(random);
    c.d_qk = random.pick(kHeadDims);
    c.d_v = random.chance(0.5) ? c.d_qk : random.pick(kHeadDims);
    if (!random.chance(long_cases.chance)) return;
    c.b = random.between(1, 2), c.h_q = random.between(1, 3), c.h_k = c.h_v = divisor_of(c.h_q, random);
    c.s_q = random.between(60, long_cases.most_rows), c.s_kv = random.between(60, long_cases.most_rows);
    if (random.chance(0.25)) c.s_q = 1, c.s_kv *= 2;
    c.d_qk = 64, c.d_v = random.chance(0.5) ? 64 : 128;
}

void choose_layout(AttentionCase& c, Random& random) {
    constexpr Layout kOutputLayouts[] = {Layout::Bhsd, Layout::Bshd, Layout::Sbhd, Layout::Packed, Layout::Gaps};
    constexpr Layout kInputLayouts[] = {Layout::Bhsd,   Layout::Bshd, Layout::Sbhd,
                                        Layout::Packed, Layout::Gaps, Layout::Shared};
    constexpr DataType_t kTypes[] = {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16};
    c.type = random.pick(kTypes);
    c.result_type = random.chance(0.8) ? c.type : DataType_t::FLOAT;
    c.input_layout = random.pick(kInputLayouts);
    c.output_layout = random.pick(kOutputLayouts);
    c.explicit_uids = random.chance(0.6);
    c.generate_stats = random.chance(0.8);
    c.deterministic = random.chance(0.3);
}

void choose_scale(AttentionCase& c, Random& random) {
    constexpr Scale kScales[] = {Scale::None, Scale::Number, Scale::Embedded, Scale::ByValue, Scale::Device};
    c.scale = random.pick(kScales);
    c.scale_value = static_cast<float>(random.real(0.5, 2.0) / std::sqrt(static_cast<double>(c.d_qk)));
    c.magnitude = random.chance(0.15) ? 3.0 : 1.0;
}

Index4 random_broadcast(AttentionCase const& c, Random& random) {
    Index4 dim{c.b, c.h_q, c.s_q, c.s_kv};
    for (std::int64_t& size : dim) {
        if (random.chance(0.35)) size = 1;
    }
    return dim;
}

void choose_bias(AttentionCase& c, Random& random) {
    if (!random.chance(0.4)) return;
    c.bias = random_broadcast(c, random);
    c.bias_type = random.chance(0.6) ? c.type : DataType_t::FLOAT;
    constexpr Infinities kInfinities[] = {Infinities::Some, Infinities::Rows, Infinities::Tiles};
    if (random.chance(0.15)) c.bias_infinities = random.pick(kInfinities);
    c.bias_shift = random.chance(0.1) ? -120.0 : 0.0;
    c.d_bias = random.chance(0.6);
}

std::vector<std::int64_t> random_lengths(std::int64_t batches, std::int64_t longest, Random& random) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(batches));
    for (std::int64_t& length : lengths) {
        length = random.chance(0.08) ? 0 : random.chance(0.15) ? longest : random.between(1, longest);
    }
    return lengths;
}

void choose_masks(AttentionCase& c, Random& random) {
    c.alibi = random.chance(0.2);
    if (random.chance(0.35)) {
        c.len_q = random_lengths(c.b, c.s_q, random);
        c.len_kv = random_lengths(c.b, c.s_kv, random);
        c.nan_in_padding = c.input_layout != Layout::Shared && random.chance(0.4);
    }
    if (random.chance(0.4)) c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    if (random.chance(0.4)) c.right = random.chance(0.6) ? 0 : static_cast<int>(random.between(1, c.s_kv));
    if (random.chance(0.3)) c.left = static_cast<int>(random.between(1, c.s_q + 3));
    c.shorthands = random.chance(0.3);
}

// Changes the chosen layouts. Has its own generator, so that cases without ragged tensors stay unchanged.
void choose_ragged(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 7919 * index);
    if (!c.len_q || !random.chance(0.5)) return;
    constexpr Layout kLayouts[] = {Layout::Ragged, Layout::RaggedGaps};
    if (random.chance(0.8)) c.input_layout = random.pick(kLayouts);
    if (random.chance(0.8)) c.output_layout = random.pick(kLayouts);
    if (random.chance(0.4)) c.offset_type = DataType_t::INT64;
    c.bounds_rows = random.chance(0.6);
    if (c.bounds_rows && random.chance(0.6)) c.d_qk = 16, c.d_v = 16 * random.between(1, 2);  // only these use bounds
}

// Has its own generator too.
void choose_modifier(AttentionCase& c, std::uint64_t index) {
    using oracle::Modify;
    constexpr Modify kModifiers[] = {Modify::Softcap,  Modify::CappedDocuments, Modify::Slopes,
                                     Modify::Relative, Modify::HeadDistance,    Modify::Documents,
                                     Modify::Prefix,   Modify::Dilated,         Modify::Causal};
    Random random(kSweepSeed + 611953 * index);
    if (!random.chance(0.15)) return;
    c.modifier = random.pick(kModifiers);
    c.modifier_number = static_cast<float>(is_capped(c.modifier) ? random.real(0.5, 5.0) : random.real(-0.1, 0.1));
    c.modifier_reach = static_cast<std::int32_t>(random.between(1, c.s_kv));
    c.modifier_step = static_cast<std::int32_t>(random.between(1, 3));
}

// Changes cases with lengths; has its own generator too.
void choose_paging(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 104729 * index);
    if (!c.len_kv || !random.chance(0.25)) return;
    constexpr std::int64_t kRows[] = {1, 2, 4, 8, 16, 32, 128};
    Paging& paging = c.paging;
    paging.k_rows = random.pick(kRows);
    paging.v_rows = random.chance(0.7) ? paging.k_rows : random.pick(kRows);
    if (random.chance(0.3)) (random.chance(0.5) ? paging.k_rows : paging.v_rows) = 0;
    paging.packed_tables = random.chance(0.3);
    paging.wild_entries = random.chance(0.7);
    paging.wide_tables = !paging.packed_tables && random.chance(0.3);
    if (random.chance(0.4)) c.offset_type = DataType_t::INT64;
    bool const has_columns = (c.bias && (*c.bias)[3] == c.s_kv && c.s_kv > 1) || c.rng_dump;
    bool const is_told = paging.k_rows == 0 || paging.v_rows == 0 || has_columns ||
                         (c.s_kv % paging.k_rows == 0 && c.s_kv % paging.v_rows == 0);
    paging.states_length = !is_told || random.chance(0.5);
}

// Has its own generator, which leaves all other draws unchanged.
void choose_softmax(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 1299709 * index);
    if (random.chance(0.2)) {
        c.sink = random.chance(0.7) ? DataType_t::FLOAT : c.type;
        c.sink_shift = random.chance(0.1) ? random.real(-20.0, 20.0) : 0.0;
        c.d_sink = random.chance(0.8);
    }
    c.stale_padding = c.len_q && random.chance(0.5);
    c.logit_max = random.chance(0.1);
    c.score_sum_exp = random.chance(0.1);
}

void choose_block_mask(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 15485863 * index);
    c.block_mask = random.chance(0.08);
}

// Has its own generator too. Tensors without a scale are wider than 8 bits.
void choose_fp8(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 32452843 * index);
    if (!random.chance(0.15)) return;
    constexpr DataType_t kTypes[] = {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2};
    constexpr DataType_t kSideTypes[] = {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16};
    constexpr Scale kPlaces[] = {Scale::Device, Scale::Device, Scale::ByValue, Scale::Embedded};
    c.type = random.chance(0.8) ? kTypes[0] : kTypes[1];
    c.result_type = random.chance(0.8) ? c.type : random.chance(0.5) ? DataType_t::BFLOAT16 : random.pick(kTypes);
    c.gradient_type = random.pick(kTypes);
    c.odd_factors = random.chance(0.5);
    c.factors = random.pick(kPlaces);
    c.bias_type = c.mask_type = random.pick(kSideTypes);
    if (c.sink) c.sink = random.pick(kSideTypes);
    c.d_bias = false;
    c.implementation = AttentionImplementation_t::AUTO;
}

// Types of results, bias and dropout mask, independent of Q's; has its own generator too.
void choose_types(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 67867967 * index);
    constexpr DataType_t kTypes[] = {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16};
    for (DataType_t* const type : {&c.result_type, &c.bias_type, &c.mask_type}) {
        DataType_t const other = random.pick(kTypes);
        if (random.chance(0.2)) *type = other;
    }
}

// The form of lengths and offsets; has its own generator too.
void choose_counting(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 49979687 * index);
    c.sums_of_lengths = c.len_q && random.chance(0.3);
    c.offsets_in_rows = (is_ragged(c.input_layout) || is_ragged(c.output_layout)) && random.chance(0.4);
    constexpr Layout kLayouts[] = {Layout::Bhsd, Layout::Ragged};
    if (c.len_q && random.chance(0.2)) c.stats_layout = random.pick(kLayouts);
    c.numbers_apart = random.chance(0.1);
}

// Ragged K and V with a dense Q, or dense ones with a ragged Q; has its own generator too.
void choose_keys_layout(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 15485863 * index);
    constexpr Layout kDense[] = {Layout::Bhsd, Layout::Bshd};
    if (!c.len_q || c.paging || !random.chance(0.2)) return;
    c.keys_layout = is_ragged(c.input_layout) ? random.pick(kDense) : Layout::Ragged;
}

// The layout of a bias and a dropout mask; has its own generator too.
void choose_scores_layout(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 86028121 * index);
    constexpr Layout kLayouts[] = {Layout::Gaps, Layout::Bshd, Layout::Sbhd, Layout::Shared, Layout::Transposed};
    Layout const layout = random.pick(kLayouts);
    if ((c.bias || c.mask) && random.chance(0.4)) c.scores_layout = layout;
}

// Alternative forms of options; has its own generator too.
void choose_telling(AttentionCase& c, std::uint64_t index) {
    Random random(kSweepSeed + 982451653 * index);
    Index4 const d_bias_dim = random_broadcast(c, random);
    if (c.d_bias && random.chance(0.5)) c.d_bias_dim = d_bias_dim;
    c.exchanged_mask = c.mask && random.chance(0.4);
    c.stats_use_log2 = random.chance(0.2);
    if (is_ragged(c.input_layout) && random.chance(0.3)) c.input_layout = Layout::RaggedSlots;
}

void choose_dropout(AttentionCase& c, Random& random) {
    constexpr float kProbabilities[] = {0.1f, 0.25f, 0.5f, 0.8f};
    c.dropout_probability = random.pick(kProbabilities);
    if (random.chance(0.2)) {
        c.dropout = Dropout::Probability;
        c.rng_seed = random.between(-5, 1'000'000);
        c.rng_offset = random.between(0, 1000);
        c.rng_type = random.chance(0.7) ? DataType_t::INT64 : DataType_t::INT32;
        c.rng_dump = true;
    } else if (random.chance(0.2)) {
        c.dropout = Dropout::Mask;
        c.mask = random_broadcast(c, random);
        c.mask_type = random.chance(0.6) ? c.type : DataType_t::FLOAT;
    }
    c.scalars_by_value = c.dropout != Dropout::None && random.chance(0.3);
}

}  // namespace

AttentionCase random_wide_case(std::uint64_t index, LongShapes long_cases) {
    Random random(kSweepSeed + index);
    AttentionCase c;
    c.seed = index;
    choose_shape(c, random, long_cases);
    choose_layout(c, random);
    choose_scale(c, random);
    choose_bias(c, random);
    choose_masks(c, random);
    choose_dropout(c, random);
    choose_types(c, index);
    choose_ragged(c, index);
    choose_modifier(c, index);
    choose_paging(c, index);
    choose_softmax(c, index);
    choose_block_mask(c, index);
    choose_scores_layout(c, index);
    choose_keys_layout(c, index);
    return c;
}

// No modifier, which can turn an infinite score into a finite one, and no scores so far apart that a probability is 0
// in FLOAT but not in DOUBLE.
AttentionCase random_wild_case(std::uint64_t index) {
    AttentionCase c = random_wide_case(index);
    choose_counting(c, index);
    Random random(kSweepSeed + 122949823 * index);
    c.modifier = oracle::Modify::Nothing;
    c.wild_rows = true;
    c.magnitude = 1.0;
    c.bias_shift = 0.0;
    c.logit_max = random.chance(0.5);
    c.score_sum_exp = random.chance(0.5);
    if (random.chance(0.5)) c.right = 0;
    return c;
}

AttentionCase random_case(std::uint64_t index) {
    AttentionCase c = random_wide_case(index);
    choose_fp8(c, index);
    choose_counting(c, index);
    choose_telling(c, index);
    return c;
}

}  // namespace sdpa_test
