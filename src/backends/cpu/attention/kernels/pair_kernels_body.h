// Products of pairs of BFLOAT16 numbers: part of attention_kernels_body.h where the instruction set has them. With
// SDPA_GRAPH_MATRIX_TILES the products are those of matrix_tiles.h, otherwise of vectors.
#pragma once

#ifdef SDPA_GRAPH_MATRIX_TILES
#include "cpu/attention/kernels/matrix_tiles.h"
#endif

namespace cudnn_frontend::cpu {
namespace {

static_assert(kWidth == 16 && kVectors == 2);

#ifdef SDPA_GRAPH_MATRIX_TILES
constexpr PairLayout kPairLayout = PairLayout::Blocks;
static_assert(PairBlocks::kRows == std::int64_t{2} * tiles::kTileRows && PairBlocks::kPairs == tiles::kRowPairs);
constexpr std::int64_t kPairRows = tiles::kTileRows, kDepthStep = tiles::kRowPairs, kPairTileKeys = kMostTileKeys;
#else
constexpr PairLayout kPairLayout = PairLayout::DepthMajor;
constexpr std::int64_t kPairRows = kRows, kDepthStep = 1, kPairTileKeys = kTileKeys;
#endif

void pair_lanes(float const* tile, std::int64_t rows, std::uint32_t* pairs, std::int64_t stride) {
    for (std::int64_t row = 0; row < rows; ++row) {
        Vector const low = read(tile + row * kLanes), high = read(tile + row * kLanes + kWidth);
        _mm512_storeu_si512(pairs + PairBlocks::row(row, stride),
                            reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
    }
}

// The numbers of two rows, rounded to pairs.
[[gnu::always_inline]] inline __m512i pairs_of(Vector low, Vector high) {
    alignas(64) static constexpr std::uint16_t kInterleaved[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                                   21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                                   11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    auto const rounded = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
    return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaved), rounded);
}

// Pairs of rows from this many rows on up to the depth that products need count as 0.
[[gnu::always_inline]] inline void clear_missing_rows(std::int64_t rows, std::uint32_t* pairs) {
    std::int64_t const first = (rows + 1) / 2, end = (first + kDepthStep - 1) / kDepthStep * kDepthStep;
    for (std::int64_t i = first * kLanes; i < end * kLanes; i += kWidth)
        _mm512_storeu_si512(pairs + i, _mm512_setzero_si512());
}

void pair_rows(float const* tile, std::int64_t rows, std::uint32_t* pairs) {
    for (std::int64_t row = 0; row < rows; row += 2) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            float const* const first = tile + row * kLanes + lane;
            Vector const second = row + 1 < rows ? read(first + kLanes) : Vector{};
            _mm512_storeu_si512(pairs + row / 2 * kLanes + lane, pairs_of(read(first), second));
        }
    }
    clear_missing_rows(rows, pairs);
}

void rescale(float* rows, std::int64_t count, float const* factors) {
    Vector const first = read(factors), second = read(factors + kWidth), one = spread(1.0f);
    if ((_mm512_cmp_ps_mask(first, one, _CMP_NEQ_UQ) | _mm512_cmp_ps_mask(second, one, _CMP_NEQ_UQ)) == 0) return;
    for (std::int64_t row = 0; row < count; ++row) {
        float* const c = rows + row * kLanes;
        write(c, first == 0.0f ? Vector{} : read(c) * first);
        write(c + kWidth, second == 0.0f ? Vector{} : read(c + kWidth) * second);
    }
}

}  // namespace
}  // namespace cudnn_frontend::cpu

#include "cpu/attention/kernels/pair_products.h"

namespace cudnn_frontend::cpu {
namespace {

// While it lives, this thread's results below the smallest normal number become 0: exponentials need no comparison for
// that, and no instruction takes the hundreds of cycles that processors need for such numbers. Only for what a function
// computes that is not inlined, since compilers move arithmetic past changes of the mode.
class WithoutSubnormals {
   public:
    WithoutSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlushResults | kFlushOperands); }
    ~WithoutSubnormals() { _mm_setcsr(before_); }
    WithoutSubnormals(WithoutSubnormals const&) = delete;
    WithoutSubnormals& operator=(WithoutSubnormals const&) = delete;

   private:
    static constexpr unsigned kFlushResults = 0x8000, kFlushOperands = 0x0040;
    unsigned before_;
};

// 2^x, within 1e-7 of it.
[[gnu::always_inline]] inline Vector power_of_two(Vector x) {
    constexpr int kFloor = 0x09;  // to integers, without exceptions
    Vector const r = _mm512_reduce_ps(x, kFloor);
    Vector tail = spread(0.00186713007f);
    tail = tail * r + 0.00901703032f;
    tail = tail * r + 0.0557999131f;
    tail = tail * r + 0.24016445f;
    tail = tail * r + 0.693151312f;
    return _mm512_maskz_scalef_ps(kAllLanes, tail * r + 1.0f, x);
}

// Numbers whose powers of e are wanted: the differences of scaled scores from an anchor of each lane.
//
// Rounding the product of a score and the scale before the subtraction makes the difference exact where the anchor is
// the maximum, and so rounded as well. A fused product has an error as large as the anchor's last digit, which is
// harmless for anchors that are not large, and takes one instruction instead of three.
template <bool kIsFused>
struct Differences {
    Vector scale, anchor;

    [[gnu::always_inline]] Differences(float scale_, Vector anchor_)
        : scale(spread(kIsFused ? scale_ * kLog2OfE : scale_)), anchor(kIsFused ? anchor_ * kLog2OfE : anchor_) {}
    [[gnu::always_inline]] Vector exponential(Vector score) const {
        if constexpr (kIsFused) return power_of_two(score * scale - anchor);
        Vector product = score * scale;
        asm("" : "+v"(product));
        return power_of_two((product - anchor) * kLog2OfE);
    }
};

// Whether differences from these anchors may be fused. Infinity and NaN give the same either way.
[[gnu::always_inline]] inline bool may_fuse(float scale, Vector anchor) {
    constexpr float kMostScale = 1e30f, kMostAnchor = 16.0f;
    __mmask16 const is_large = _mm512_cmp_ps_mask(anchor, spread(kMostAnchor), _CMP_GT_OQ);
    __mmask16 const is_infinite = _mm512_cmp_ps_mask(anchor, spread(kInfinity), _CMP_EQ_OQ);
    __mmask16 const is_small = _mm512_cmp_ps_mask(anchor, spread(-kMostAnchor), _CMP_LT_OQ);
    return scale < kMostScale && ((is_large & ~is_infinite) | is_small) == 0;
}

// Lanes with a NaN among the scores of some keys.
[[gnu::noinline, gnu::cold]] void find_nan(SoftmaxPairs const& step, std::int64_t first, std::int64_t end,
                                           __mmask16* nan) {
    for (std::int64_t key = first; key < end; ++key) {
        for (int i = 0; i < kVectors; ++i) {
            Vector const score = read(step.tile + key * kLanes + i * kWidth);
            nan[i] |= _mm512_cmp_ps_mask(score, score, _CMP_UNORD_Q);
        }
    }
}

// Turns scores into pairs of weights, as work between the instructions of products.
template <bool kIsFused>
class Weighing {
   public:
    [[gnu::always_inline]] Weighing(SoftmaxPairs const& step, Vector const* anchors, __mmask16* nan)
        : differences_{{step.scale, anchors[0]}, {step.scale, anchors[1]}},
          step_(step),
          tile_(step.tile),
          pairs_(step.pairs),
          whole_(step.keys / 2 * 2),
          nan_(nan) {
        if (whole_ != step.keys) weigh<false>(whole_);
    }

    std::int64_t parts() const { return whole_ / 2; }
    bool is_done() const { return key_ >= whole_; }
    std::int64_t rows_done() const { return key_; }
    [[gnu::always_inline]] void go_on() {
        weigh<true>(key_);
        key_ += 2;
    }
    // Rows that are done may get other numbers from now on. The maximum of numbers leaves out NaN, from which a weight
    // and so the sum become NaN: only then scores are searched.
    [[gnu::always_inline]] void release_rows() {
        std::int64_t const end = is_done() ? step_.keys : key_;
        if (_mm512_cmp_ps_mask(sum(0), sum(1), _CMP_UNORD_Q) != 0) find_nan(step_, searched_, end, nan_);
        searched_ = end;
    }
    [[gnu::always_inline]] Vector sum(int i) const { return even_[i] + odd_[i]; }

   private:
    // Takes a key and, if they are two, the next one.
    template <bool kAreTwo>
    [[gnu::always_inline]] void weigh(std::int64_t key) {
        float const* const scores = tile_ + key * kLanes;
        std::uint32_t* const pairs = pairs_ + key / 2 * kLanes;
#pragma GCC unroll 2
        for (int i = 0; i < kVectors; ++i) {
            Vector const low = differences_[i].exponential(read(scores + i * kWidth));
            Vector high{};
            if constexpr (kAreTwo) high = differences_[i].exponential(read(scores + kLanes + i * kWidth));
            even_[i] += low;
            odd_[i] += high;
            _mm512_storeu_si512(pairs + i * kWidth, pairs_of(low, high));
        }
    }

    Vector even_[kVectors] = {}, odd_[kVectors] = {};  // sums of weights
    Differences<kIsFused> const differences_[kVectors];
    SoftmaxPairs const& step_;
    float const* const tile_;
    std::uint32_t* const pairs_;
    std::int64_t const whole_;  // keys in twos
    std::int64_t key_ = 0, searched_ = 0;
    __mmask16* nan_;
};

// A step of softmax for all lanes.
struct SoftmaxLanes {
    Vector anchors[kVectors], sums[kVectors];
    __mmask16 nan[kVectors] = {};  // lanes with a score that is NaN
};

template <bool kIsFused>
[[gnu::noinline]] void weigh_all(SoftmaxPairs const& step, SoftmaxLanes& lanes) {
    Weighing<kIsFused> weighing(step, lanes.anchors, lanes.nan);
    multiply_meanwhile(step.meanwhile, weighing);
    for (int i = 0; i < kVectors; ++i) lanes.sums[i] = weighing.sum(i);
}

// Ends the step for one vector of lanes.
[[gnu::always_inline]] inline void keep(SoftmaxPairs const& step, SoftmaxLanes const& lanes, int i, Vector top) {
    float *const max = step.running_max + i * kWidth, *const sum = step.running_sum + i * kWidth;
    Vector const old_top = read(max), factor = power_of_two((old_top - lanes.anchors[i]) * kLog2OfE);
    Vector const all = read(sum) * factor + lanes.sums[i];
    write(max, _mm512_mask_mov_ps(top, lanes.nan[i], all));
    write(sum, all);
    write(step.rescale + i * kWidth, top == old_top ? spread(1.0f) : factor);
}

[[gnu::noinline]] void take_softmax_step(SoftmaxPairs const& step) {
    SoftmaxLanes lanes;
    Vector tops[kVectors];
    bool is_fused = true;
    for (int i = 0; i < kVectors; ++i) {
        Vector const of_scores = maximum_of_numbers(step.tile + i * kWidth, step.keys, kLanes);
        Vector const old_top = read(step.running_max + i * kWidth), top = larger(of_scores * step.scale, old_top);
        tops[i] = top - old_top <= step.lag ? old_top : top;
        lanes.anchors[i] = tops[i] == -kInfinity ? Vector{} : tops[i];
        is_fused = is_fused && may_fuse(step.scale, lanes.anchors[i]);
    }
    if (is_fused) weigh_all<true>(step, lanes);
    else weigh_all<false>(step, lanes);
    for (int i = 0; i < kVectors; ++i) keep(step, lanes, i, tops[i]);
    clear_missing_rows(step.keys, step.pairs);
}

void softmax_step_of_pairs(SoftmaxPairs const& step) {
    WithoutSubnormals const mode;
    take_softmax_step(step);
}

// P and dS of one row, in the order of lanes.
struct RowPairs {
    __m512i weights, gradients;
};

template <bool kIsFused>
struct GradientLanes {
    Differences<kIsFused> differences[kVectors];
    Vector anchors[kVectors], dots[kVectors];
};

[[gnu::always_inline]] inline Vector anchor_of(float const* stats) {
    Vector const anchor = read(stats);
    // A fully masked query has stats of -inf and probabilities of 0.
    return anchor == -kInfinity ? spread(kInfinity) : anchor;
}

template <bool kIsFused>
[[gnu::always_inline]] inline GradientLanes<kIsFused> gradient_lanes(GradientPairs const& p) {
    Vector const first = anchor_of(p.stats), second = anchor_of(p.stats + kWidth);
    return {{{p.scale, first}, {p.scale, second}}, {first, second}, {read(p.row_dots), read(p.row_dots + kWidth)}};
}

template <bool kIsCareful, bool kIsFused>
[[gnu::always_inline]] inline RowPairs row_pairs(GradientPairs const& p, GradientLanes<kIsFused> const& lanes,
                                                 std::int64_t key) {
    Vector weights[kVectors], gradients[kVectors];
    for (int i = 0; i < kVectors; ++i) {
        std::int64_t const at = key * kLanes + i * kWidth;
        Vector const score = read(p.scores + at);
        weights[i] = lanes.differences[i].exponential(score);
        if constexpr (kIsCareful)
            weights[i] = ((score == -kInfinity) | (lanes.anchors[i] == kInfinity)) ? Vector{} : weights[i];
        __mmask16 const counts = _mm512_cmp_ps_mask(weights[i], Vector{}, _CMP_NEQ_UQ);
        gradients[i] = _mm512_maskz_mul_ps(counts, weights[i], read(p.gradients + at) - lanes.dots[i]);
    }
    return {reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(weights[1], weights[0])),
            reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(gradients[1], gradients[0]))};
}

[[gnu::always_inline]] inline void store_row(GradientPairs const& p, std::int64_t key, RowPairs const& row) {
    std::int64_t const at = PairBlocks::row(key, p.stride);
    if (p.weights_by_lanes != nullptr) _mm512_storeu_si512(p.weights_by_lanes + at, row.weights);
    if (p.gradients_by_lanes != nullptr) _mm512_storeu_si512(p.gradients_by_lanes + at, row.gradients);
}

// Computes P and dS, as work between the instructions of products.
template <bool kIsCareful, bool kIsFused>
class Differentiation {
   public:
    [[gnu::always_inline]] explicit Differentiation(GradientPairs const& p)
        : lanes_(gradient_lanes<kIsFused>(p)), whole_(p.keys / 2 * 2), p_(p) {
        if (whole_ != p.keys) differentiate<false>(whole_);
    }

    std::int64_t parts() const { return whole_ / 2; }
    bool is_done() const { return key_ >= whole_; }
    std::int64_t rows_done() const { return key_; }
    [[gnu::always_inline]] void go_on() {
        differentiate<true>(key_);
        key_ += 2;
    }
    void release_rows() {}

   private:
    // Takes a key and, if they are two, the next one.
    template <bool kAreTwo>
    [[gnu::always_inline]] void differentiate(std::int64_t key) {
        // Number i of the first row, then of the second one, for each lane of the first or the second vector.
        alignas(64) static constexpr std::uint16_t kFirst[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                                 37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                                 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
        __m512i const first = _mm512_load_si512(kFirst);
        auto const second = reinterpret_cast<__m512i>(reinterpret_cast<Integers>(first) + 0x00100010);
        RowPairs const even = row_pairs<kIsCareful>(p_, lanes_, key);
        RowPairs odd{};
        if constexpr (kAreTwo) odd = row_pairs<kIsCareful>(p_, lanes_, key + 1);
        store_row(p_, key, even);
        if constexpr (kAreTwo) store_row(p_, key + 1, odd);
        if (p_.gradients_by_rows == nullptr) return;
        std::uint32_t* const rows = p_.gradients_by_rows + key / 2 * kLanes;
        _mm512_storeu_si512(rows, _mm512_permutex2var_epi16(even.gradients, first, odd.gradients));
        _mm512_storeu_si512(rows + kWidth, _mm512_permutex2var_epi16(even.gradients, second, odd.gradients));
    }

    GradientLanes<kIsFused> const lanes_;
    std::int64_t const whole_;  // keys in twos
    std::int64_t key_ = 0;
    GradientPairs const p_;  // which stores cannot change
};

template <bool kIsCareful, bool kIsFused>
[[gnu::noinline]] void score_gradients_of_pairs_as(GradientPairs const& p) {
    Differentiation<kIsCareful, kIsFused> differentiation(p);
    multiply_meanwhile(p.meanwhile, differentiation);
    for (std::int64_t row = p.keys; row < p.rows; ++row) store_row(p, row, RowPairs{});
    if (p.gradients_by_rows != nullptr) clear_missing_rows(p.keys, p.gradients_by_rows);
}

void score_gradients_of_pairs(GradientPairs const& p) {
    WithoutSubnormals const mode;
    bool const is_fused = may_fuse(p.scale, anchor_of(p.stats)) && may_fuse(p.scale, anchor_of(p.stats + kWidth));
    if (p.is_careful) {
        if (is_fused) score_gradients_of_pairs_as<true, true>(p);
        else score_gradients_of_pairs_as<true, false>(p);
    } else {
        if (is_fused) score_gradients_of_pairs_as<false, true>(p);
        else score_gradients_of_pairs_as<false, false>(p);
    }
}

constexpr PairKernels kPairKernels{kPairLayout,
                                   kPairRows,
                                   kDepthStep,
                                   kPairTileKeys,
                                   begin,
                                   end,
                                   multiply_pairs,
                                   rescale_and_multiply_pairs,
                                   rescale,
                                   multiply_tile_of_pairs,
                                   pair_lanes,
                                   pair_rows,
                                   softmax_step_of_pairs,
                                   score_gradients_of_pairs};

}  // namespace
}  // namespace cudnn_frontend::cpu
