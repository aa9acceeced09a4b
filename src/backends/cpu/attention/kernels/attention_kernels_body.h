// Included once for each instruction set: SDPA_GRAPH_KERNELS names it, SDPA_GRAPH_VECTOR_BYTES and SDPA_GRAPH_ROWS size
// the register block.
// Everything here has internal linkage, and no inline function of the standard library is used: a function that the
// linker merges with another file's must not contain instructions which the machine may lack.
#include "attention/philox.h"
#include "cpu/attention/kernels/attention_kernels.h"

#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace cudnn_frontend::cpu {
namespace {

constexpr std::int64_t kWidth = SDPA_GRAPH_VECTOR_BYTES / 4;
constexpr int kVectors = 2;
constexpr std::int64_t kLanes = kVectors * kWidth;
constexpr int kRows = SDPA_GRAPH_ROWS;
static_assert(kLanes <= kMaxLanes && kTileKeys % kRows == 0);

typedef float Vector __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES)));
typedef std::int32_t Integers __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES)));
typedef float UnalignedVector __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES), aligned(4), may_alias));

constexpr float kInfinity = __builtin_inff();
constexpr float kLog2OfE = 1.44269504f;

[[gnu::always_inline]] inline Vector read(float const* from) { return *reinterpret_cast<UnalignedVector const*>(from); }
[[gnu::always_inline]] inline void write(float* to, Vector value) { *reinterpret_cast<UnalignedVector*>(to) = value; }
[[gnu::always_inline]] inline Vector spread(float value) { return Vector{} + value; }

#ifdef __AVX512F__
// With this mask functions are one instruction as those without a mask, of which GCC 12 warns.
constexpr __mmask16 kAllLanes = 0xffff;
#endif

// The second one where either is NaN.
[[gnu::always_inline]] inline Vector larger(Vector a, Vector b) {
#ifdef __AVX512F__
    return _mm512_maskz_max_ps(kAllLanes, a, b);
#else
    return a > b ? a : b;
#endif
}
[[gnu::always_inline]] inline Vector smaller(Vector a, Vector b) {
#ifdef __AVX512F__
    return _mm512_maskz_min_ps(kAllLanes, a, b);
#else
    return a < b ? a : b;
#endif
}

// x = n ln(2) + r with an integer n and |r| <= ln(2) / 2, where |x| is at most 89 or x is NaN.
struct Powers {
    Vector n, r;

    [[gnu::always_inline]] explicit Powers(Vector x) {
#ifdef __AVX512F__
        constexpr int kNearest = 0x08;  // to integers, without exceptions
        n = _mm512_maskz_roundscale_ps(kAllLanes, x * kLog2OfE, kNearest);
#else
        constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it leaves no fraction
        n = (x * kLog2OfE + kRounder) - kRounder;
#endif
        constexpr float kHighLn2 = 0.693145752f, kLowLn2 = 1.42860682e-06f;
        r = (x - n * kHighLn2) - n * kLowLn2;
    }
    // e^r - 1, to within 1e-8.
    [[gnu::always_inline]] Vector exponential_minus_1() const {
        Vector tail = spread(0.00139261761f);
        tail = tail * r + 0.00836317307f;
        tail = tail * r + 0.0416665547f;
        tail = tail * r + 0.16666577f;
        tail = tail * r + 0.5f;
        return (tail * r) * r + r;
    }
    [[gnu::always_inline]] Vector power_of_two() const {
        Integers const exponent = (__builtin_convertvector(n, Integers) << 23) + (127 << 23);
        return reinterpret_cast<Vector>(exponent);
    }
};

// e^x. Subnormal results become 0.
[[gnu::always_inline]] inline Vector exponential(Vector x) {
    constexpr float kLowest = -87.3f, kHighest = 89.0f;  // the power of the latter is infinite
    Vector const bounded = smaller(spread(kHighest), x);
#ifdef __AVX512F__
    Powers const powers(bounded);
    __mmask16 const counts = _mm512_cmp_ps_mask(x, spread(kLowest), _CMP_NLT_UQ);
    return _mm512_maskz_scalef_ps(counts, powers.exponential_minus_1() + 1.0f, powers.n);
#else
    Powers const powers(larger(spread(kLowest), bounded));
    return x < kLowest ? Vector{} : (powers.exponential_minus_1() + 1.0f) * powers.power_of_two();
#endif
}

// 1 / x, to within two of the last digits, where neither it nor x is infinite.
[[gnu::always_inline]] inline Vector reciprocal(Vector x) {
#ifdef __AVX512F__
    Vector const near = _mm512_maskz_rcp14_ps(kAllLanes, x);
    return near + near * (1.0f - x * near);
#else
    return 1.0f / x;
#endif
}

// The order of the elements of a product's operand `a`.
enum class FactorLayout { DepthMajor, Tile };

// Whether a 0 in the tile multiplies like any number, or skips the product.
enum class Zeros { Multiply, LeaveOut };

struct Assign {
    Vector operator()(Vector, Vector sum, int) const { return sum; }
};
struct Add {
    Vector operator()(Vector old, Vector sum, int) const { return old + sum; }
};
template <Zeros kZeros>
struct Rescale {
    float const* factors;
    Vector operator()(Vector old, Vector sum, int vector) const {
        Vector const factor = read(factors + vector * kWidth);
        Vector const all = old * factor + sum;
        if constexpr (kZeros == Zeros::Multiply) return all;
        return factor == 0.0f ? sum : all;
    }
};

// With Layout::Tile the tile is `a`, otherwise b.
template <FactorLayout kLayout, Zeros kZeros>
[[gnu::always_inline]] inline Vector plus_product(Vector sum, float a, Vector b) {
    Vector const all = sum + b * a;
    if constexpr (kZeros == Zeros::Multiply) return all;
    if constexpr (kLayout == FactorLayout::Tile) return a == 0.0f ? sum : all;
    else return b == 0.0f ? sum : all;
}

// A product of floats, or of pairs.
template <class Operands>
struct FactorsOf;

template <>
struct FactorsOf<Product> {
    using Element = float;
    using Elements = Vector;
    static constexpr std::int64_t kInLanes = kLanes;  // of a tile's row

    [[gnu::always_inline]] static Vector load(float const* from) { return read(from); }
    template <FactorLayout kLayout, Zeros kZeros>
    [[gnu::always_inline]] static Vector add(Vector sum, float a, Vector b) {
        return plus_product<kLayout, kZeros>(sum, a, b);
    }
};

#ifdef __AVX512BF16__
template <>
struct FactorsOf<PairProduct> {
    using Element = std::uint32_t;
    using Elements = __m512i;
    static constexpr std::int64_t kInLanes = kLanes / 2;

    [[gnu::always_inline]] static __m512i load(std::uint32_t const* from) { return _mm512_loadu_si512(from); }
    template <FactorLayout, Zeros>
    [[gnu::always_inline]] static Vector add(Vector sum, std::uint32_t a, __m512i b) {
        __m512i const spread_a = _mm512_set1_epi32(static_cast<int>(a));
        return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(spread_a), reinterpret_cast<__m512bh>(b));
    }
};
#endif

template <FactorLayout kLayout, Zeros kZeros, class Operands, class Update>
[[gnu::always_inline]] inline void multiply_block(typename FactorsOf<Operands>::Element const* a, Operands const& p,
                                                  typename FactorsOf<Operands>::Element const* b, float* c,
                                                  Update update) {
    using Factors = FactorsOf<Operands>;
    constexpr std::int64_t kRowStep = kLayout == FactorLayout::Tile ? Factors::kInLanes : 1;
    std::int64_t const depth_step = kLayout == FactorLayout::Tile ? 1 : p.a_stride;
    Vector sum[kRows][kVectors] = {};
    for (std::int64_t k = 0; k < p.depth; ++k) {
        typename Factors::Elements const b0 = Factors::load(b), b1 = Factors::load(b + kWidth);
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row) {
            auto const factor = a[row * kRowStep];
            sum[row][0] = Factors::template add<kLayout, kZeros>(sum[row][0], factor, b0);
            sum[row][1] = Factors::template add<kLayout, kZeros>(sum[row][1], factor, b1);
        }
        a += depth_step;
        b += p.b_stride;
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
        float* const to = c + row * p.c_stride;
        write(to, update(read(to), sum[row][0], 0));
        write(to + kWidth, update(read(to + kWidth), sum[row][1], 1));
    }
}

// The first row of b from a column on.
[[gnu::always_inline]] inline float const* columns_of(Product const& p, std::int64_t column) { return p.b + column; }
[[gnu::always_inline]] inline std::uint32_t const* columns_of(PairProduct const& p, std::int64_t column) {
    return p.b + column / kMaxLanes * p.b_block;
}

template <FactorLayout kLayout, Zeros kZeros, class Operands, class Update>
[[gnu::always_inline]] inline void multiply_all(Operands const& p, Update update) {
    constexpr std::int64_t row_step = kLayout == FactorLayout::Tile ? FactorsOf<Operands>::kInLanes : 1;
    for (std::int64_t column = 0; column < p.columns; column += kLanes) {
        for (std::int64_t row = 0; row < p.rows; row += kRows) {
            multiply_block<kLayout, kZeros>(p.a + row * row_step, p, columns_of(p, column),
                                            p.c + row * p.c_stride + column, update);
        }
    }
}

void multiply(Product const& product) { multiply_all<FactorLayout::DepthMajor, Zeros::Multiply>(product, Assign{}); }

template <Zeros kZeros>
[[gnu::noinline]] void rescale_and_multiply_as(Product const& product, float const* factors) {
    multiply_all<FactorLayout::DepthMajor, kZeros>(product, Rescale<kZeros>{factors});
}

void rescale_and_multiply(Product const& product, float const* factors) {
    if (product.leaves_out_zeros) rescale_and_multiply_as<Zeros::LeaveOut>(product, factors);
    else rescale_and_multiply_as<Zeros::Multiply>(product, factors);
}

template <Zeros kZeros>
[[gnu::noinline]] void multiply_tile_as(Product const& product) {
    multiply_all<FactorLayout::Tile, kZeros>(product, Add{});
}

void multiply_tile(Product const& product) {
    if (product.leaves_out_zeros) multiply_tile_as<Zeros::LeaveOut>(product);
    else multiply_tile_as<Zeros::Multiply>(product);
}

// The maximum of rows of scores, except NaN.
[[gnu::always_inline]] inline Vector maximum_of_numbers(float const* scores, std::int64_t rows, std::int64_t step) {
    Vector tops[4];
    for (Vector& top : tops) top = spread(-kInfinity);
    std::int64_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        for (int i = 0; i < 4; ++i) tops[i] = larger(read(scores + (row + i) * step), tops[i]);
    }
    for (; row < rows; ++row) tops[0] = larger(read(scores + row * step), tops[0]);
    return larger(larger(tops[0], tops[1]), larger(tops[2], tops[3]));
}

// Which lanes have a NaN among their scores.
[[gnu::noinline, gnu::cold]] Integers lanes_with_nan(float const* scores, std::int64_t rows, std::int64_t step) {
    Integers is_nan{};
    for (std::int64_t row = 0; row < rows; ++row) {
        Vector const score = read(scores + row * step);
        is_nan |= score != score;
    }
    return is_nan;
}

[[gnu::always_inline]] inline bool any(Integers holds) {
    std::int32_t found = 0;
    for (std::int64_t lane = 0; lane < kWidth; ++lane) found |= holds[lane];
    return found != 0;
}

// Scores become weights, whose sums are returned. `top` is their maximum among numbers, and becomes NaN where a score
// is NaN: that shows in the sum, and next to infinity, where the sum is NaN as well, in the scores alone.
[[gnu::always_inline]] inline Vector weigh(float* scores, std::int64_t rows, std::int64_t step, Vector& top) {
    Integers is_nan{};
    if (any(top == kInfinity)) is_nan = lanes_with_nan(scores, rows, step);
    // A query whose keys so far were all masked: exp(-inf - 0) is 0, but exp(-inf - -inf) would be NaN.
    Vector const anchor = top == -kInfinity ? Vector{} : top;
    Vector sums[2] = {};
    std::int64_t row = 0;
    for (; row + 2 <= rows; row += 2) {
        for (int i = 0; i < 2; ++i) {
            float* const score = scores + (row + i) * step;
            Vector const weight = exponential(read(score) - anchor);
            sums[i] += weight;
            write(score, weight);
        }
    }
    if (row < rows) {
        float* const score = scores + row * step;
        Vector const weight = exponential(read(score) - anchor);
        sums[0] += weight;
        write(score, weight);
    }
    Vector const sum = sums[0] + sums[1];
    is_nan |= (sum != sum) & (top != kInfinity);
    top = is_nan ? spread(__builtin_nanf("")) : top;
    return sum;
}

void softmax_step(float* tile, std::int64_t keys, float* running_max, float* running_sum, float* rescale) {
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
        Vector const old_top = read(running_max + lane);
        Vector top = larger(maximum_of_numbers(tile + lane, keys, kLanes), old_top);
        Vector const sum = weigh(tile + lane, keys, kLanes, top);
        Vector const factor = exponential(old_top - (top == -kInfinity ? Vector{} : top));
        write(running_max + lane, top);
        write(running_sum + lane, read(running_sum + lane) * factor + sum);
        // Under an infinite sink exp(inf - inf) is NaN; the sums of the keys stay as they are.
        write(rescale + lane, top == old_top ? spread(1.0f) : factor);
    }
}

// The careful variant keeps masked scores at 0 even if stats are NaN.
template <bool kIsCareful>
[[gnu::always_inline]] inline void probabilities_as(float* tile, std::int64_t keys, float const* stats) {
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
        Vector const log_sum = read(stats + lane);
        // A fully masked query has stats of -inf and probabilities of 0.
        Vector const anchor = log_sum == -kInfinity ? spread(kInfinity) : log_sum;
        for (std::int64_t key = 0; key < keys; ++key) {
            float* const at = tile + key * kLanes + lane;
            Vector const score = read(at), probability = exponential(score - anchor);
            if constexpr (kIsCareful) {
                write(at, ((score == -kInfinity) | (anchor == kInfinity)) ? Vector{} : probability);
            } else {
                write(at, probability);
            }
        }
    }
}

void probabilities(float* tile, std::int64_t keys, float const* stats, bool is_careful) {
    if (is_careful) probabilities_as<true>(tile, keys, stats);
    else probabilities_as<false>(tile, keys, stats);
}

template <bool kHasDropout>
[[gnu::always_inline]] inline void score_gradients_as(float* probabilities, float* gradients, std::int64_t keys,
                                                      GradientTerms const& terms) {
    for (std::int64_t key = 0; key < keys; ++key) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            std::int64_t const at = key * kLanes + lane;
            Vector const weight = read(probabilities + at);
            Vector of_probability = read(gradients + at);
            if constexpr (kHasDropout) {
                Vector const factor = read(terms.dropout_mask + at) * terms.dropout_scale;
                of_probability = factor == 0.0f ? Vector{} : of_probability * factor;
                write(probabilities + at, weight == 0.0f ? Vector{} : weight * factor);
            }
            Vector const gradient = weight * (of_probability - read(terms.row_dots + lane));
            write(gradients + at, weight == 0.0f ? Vector{} : gradient);
        }
    }
}

void score_gradients(float* probabilities, float* gradients, std::int64_t keys, GradientTerms const& terms) {
    if (terms.dropout_mask) score_gradients_as<true>(probabilities, gradients, keys, terms);
    else score_gradients_as<false>(probabilities, gradients, keys, terms);
}

void scale_lanes(float* rows, std::int64_t count, float const* factors) {
    for (std::int64_t row = 0; row < count; ++row) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            Vector const factor = read(factors + lane);
            float* const at = rows + row * kLanes + lane;
            write(at, factor == 0.0f ? Vector{} : read(at) * factor);
        }
    }
}

bool holds_nan(float const* numbers, std::int64_t count) {
    Integers is_nan{};
    for (std::int64_t i = 0; i < count; i += kLanes) {
        Vector const a = read(numbers + i), b = read(numbers + i + kWidth);
        is_nan |= (a != a) | (b != b);
    }
    std::int32_t found = 0;
    for (std::int64_t lane = 0; lane < kWidth; ++lane) found |= is_nan[lane];
    return found != 0;
}

// (e^2x - 1) / (e^2x + 1), where the first difference has no cancellation: 2^n (e^r - 1) + (2^n - 1).
[[gnu::always_inline]] inline Vector hyperbolic_tangent(Vector x) {
    constexpr float kMost = 40.0f;  // from where on all digits are those of 1
    Powers const powers(larger(spread(-kMost), smaller(spread(kMost), x + x)));
    Vector const power = powers.power_of_two();
    Vector const difference = powers.exponential_minus_1() * power + (power - 1.0f);
    return difference * reciprocal(difference + 2.0f);
}

// 4 t / (1 + t)^2 with t = e^-2|x|, which stays exact where 1 - tanh(x)^2 cancels.
[[gnu::always_inline]] inline Vector slope_of_hyperbolic_tangent(Vector x) {
    Vector const power = exponential(x < 0.0f ? x + x : -x - x), share = reciprocal(1.0f + power);
    return 4.0f * power * share * share;
}

// For numbers of magnitude up to kMostNear0: an odd polynomial of degree 9, with the least greatest relative error.
constexpr float kMostNear0 = 0.5f;
[[gnu::always_inline]] inline Vector hyperbolic_tangent_near_0(Vector x) {
    Vector const square = x * x;
    Vector rest = spread(0.017241491f);
    rest = rest * square - 0.053045493f;
    rest = rest * square + 0.13325879f;
    rest = rest * square - 0.33333144f;
    return (x * square) * rest + x;
}
[[gnu::always_inline]] inline Vector slope_near_0(Vector x) {
    Vector const tangent = hyperbolic_tangent_near_0(x);
    return 1.0f - tangent * tangent;
}

// The exponential beyond the range of the one that softmax needs, whose arguments are at most 0.
[[gnu::always_inline]] inline Vector any_exponential(Vector x) {
    constexpr float kOverflow = 88.7228394f;
    return x > kOverflow ? spread(kInfinity) : exponential(x);
}

[[gnu::always_inline]] inline Vector magnitude(Vector x) { return x < 0.0f ? -x : x; }

[[gnu::always_inline]] inline Vector largest_integer_below(Vector x) {
    constexpr float kAllIntegers = 8388608.0f;  // 2^23: from there on there are no fractions
    Integers const is_large = (x >= kAllIntegers) | (x <= -kAllIntegers) | (x != x);
    Vector const bounded = is_large ? Vector{} : x;
    Vector const whole = __builtin_convertvector(__builtin_convertvector(bounded, Integers), Vector);
    return is_large ? x : (whole > bounded ? whole - 1.0f : whole);
}

[[gnu::always_inline]] inline Vector truth(Integers holds) { return holds ? spread(1.0f) : Vector{}; }

template <class Function>
[[gnu::always_inline]] inline void map_rows(TileStep const& step, Function function) {
    for (std::int64_t row = 0; row < step.rows; ++row) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            auto const operand = [&](int i) { return read(step.in[i].data + row * step.in[i].step + lane); };
            write(step.out + row * kLanes + lane, function(operand));
        }
    }
}

// Whether no number of that operand has a greater magnitude than kMostNear0.
[[gnu::always_inline]] inline bool are_near_0(TileStep const& step, int operand) {
    TileRows const& rows = step.in[operand];
    Vector most{};
    for (std::int64_t row = 0; row < step.rows; ++row) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            most = larger(most, magnitude(read(rows.data + row * rows.step + lane)));
        }
    }
    bool are = true;
    for (std::int64_t lane = 0; lane < kWidth; ++lane) are = are && most[lane] <= kMostNear0;
    return are;
}

// Scores are mostly near 0, compared with the cap of a softcap.
void hyperbolic_tangents(TileStep const& step) {
    if (are_near_0(step, 0)) map_rows(step, [](auto x) { return hyperbolic_tangent_near_0(x(0)); });
    else map_rows(step, [](auto x) { return hyperbolic_tangent(x(0)); });
}
void gradients_of_hyperbolic_tangents(TileStep const& step) {
    if (are_near_0(step, 1)) map_rows(step, [](auto x) { return x(0) * slope_near_0(x(1)); });
    else map_rows(step, [](auto x) { return x(0) * slope_of_hyperbolic_tangent(x(1)); });
}

// Division of all rows by one, with the quotients of the processor's division, which takes several times as long: the
// product with the divisor's reciprocal is corrected by its exact remainder. Subnormal quotients may differ.
[[gnu::always_inline]] inline void divide(TileStep const& step) {
#ifdef __FMA__
    if (step.in[1].step == 0) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            Vector const divisor = read(step.in[1].data + lane), inverse = 1.0f / divisor;
            for (std::int64_t row = 0; row < step.rows; ++row) {
                Vector const x = read(step.in[0].data + row * step.in[0].step + lane), quotient = x * inverse;
                Vector const corrected = (x - quotient * divisor) * inverse + quotient;
                // Infinity has no remainder.
                write(step.out + row * kLanes + lane, corrected == corrected ? corrected : quotient);
            }
        }
        return;
    }
#endif
    map_rows(step, [](auto x) { return x(0) / x(1); });
}

void apply(TileStep const& step) {
    switch (step.function) {
        case TileFunction::Identity: return map_rows(step, [](auto x) { return x(0); });
        case TileFunction::Add: return map_rows(step, [](auto x) { return x(0) + x(1); });
        case TileFunction::Subtract: return map_rows(step, [](auto x) { return x(0) - x(1); });
        case TileFunction::Multiply: return map_rows(step, [](auto x) { return x(0) * x(1); });
        case TileFunction::Divide: return divide(step);
        case TileFunction::Maximum:
            return map_rows(step, [](auto x) { return ((x(0) > x(1)) | (x(0) != x(0))) ? x(0) : x(1); });
        case TileFunction::Minimum:
            return map_rows(step, [](auto x) { return ((x(0) < x(1)) | (x(0) != x(0))) ? x(0) : x(1); });
        case TileFunction::Negate: return map_rows(step, [](auto x) { return -x(0); });
        case TileFunction::Absolute: return map_rows(step, [](auto x) { return magnitude(x(0)); });
        case TileFunction::Floor: return map_rows(step, [](auto x) { return largest_integer_below(x(0)); });
        case TileFunction::Exponential: return map_rows(step, [](auto x) { return any_exponential(x(0)); });
        case TileFunction::Tanh: return hyperbolic_tangents(step);
        case TileFunction::TanhGradient: return gradients_of_hyperbolic_tangents(step);
        case TileFunction::Sigmoid:
            return map_rows(step, [](auto x) { return 1.0f / (1.0f + any_exponential(-x(0))); });
        case TileFunction::Equal: return map_rows(step, [](auto x) { return truth(x(0) == x(1)); });
        case TileFunction::NotEqual: return map_rows(step, [](auto x) { return truth(x(0) != x(1)); });
        case TileFunction::Greater: return map_rows(step, [](auto x) { return truth(x(0) > x(1)); });
        case TileFunction::GreaterOrEqual: return map_rows(step, [](auto x) { return truth(x(0) >= x(1)); });
        case TileFunction::Less: return map_rows(step, [](auto x) { return truth(x(0) < x(1)); });
        case TileFunction::LessOrEqual: return map_rows(step, [](auto x) { return truth(x(0) <= x(1)); });
        case TileFunction::And: return map_rows(step, [](auto x) { return truth((x(0) != 0.0f) & (x(1) != 0.0f)); });
        case TileFunction::Or: return map_rows(step, [](auto x) { return truth((x(0) != 0.0f) | (x(1) != 0.0f)); });
        case TileFunction::Not: return map_rows(step, [](auto x) { return truth(x(0) == 0.0f); });
        case TileFunction::Select: return map_rows(step, [](auto x) { return x(2) != 0.0f ? x(0) : x(1); });
    }
}

}  // namespace
}  // namespace cudnn_frontend::cpu

#include "cpu/attention/kernels/dropout_body.h"
#include "cpu/attention/kernels/row_kernels_body.h"
#include "cpu/attention/kernels/transpose_body.h"
#ifdef __AVX512BF16__
#include "cpu/attention/kernels/pair_kernels_body.h"
#endif

namespace cudnn_frontend::cpu {
namespace {

#if defined(__AVX512F__) || defined(__F16C__)
constexpr auto kHalfToFloats = half_to_floats;
#else
constexpr void (*kHalfToFloats)(std::uint16_t const*, std::int64_t, float*) = nullptr;
#endif

#ifdef __AVX512BF16__
constexpr PairKernels const* kPairs = &kPairKernels;
#else
constexpr PairKernels const* kPairs = nullptr;
#endif

}  // namespace

extern Kernels const SDPA_GRAPH_KERNELS;
constinit Kernels const SDPA_GRAPH_KERNELS{SDPA_GRAPH_KERNELS_NAME,
                                           kLanes,
                                           kRows,
                                           multiply,
                                           rescale_and_multiply,
                                           multiply_tile,
                                           softmax_step,
                                           probabilities,
                                           score_gradients,
                                           scale_lanes,
                                           holds_nan,
                                           apply,
                                           draw,
                                           transpose,
                                           kHalfToFloats,
                                           dot_rows,
                                           add_rows,
                                           softmax_row,
                                           kPairs};

}  // namespace cudnn_frontend::cpu
