// Included once for each instruction set, with SDPA_GRAPH_KERNELS naming it, SDPA_GRAPH_VECTOR_BYTES and
// SDPA_GRAPH_ROWS sizing the register block. Everything here has internal linkage and nothing inline comes from the
// standard library: a function that the linker merges with another file's must never carry instructions which the
// machine may lack.
#include "cpu/attention_kernels.h"

#include <cstdint>

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

[[gnu::always_inline]] inline Vector read(float const* from) { return *reinterpret_cast<UnalignedVector const*>(from); }
[[gnu::always_inline]] inline void write(float* to, Vector value) { *reinterpret_cast<UnalignedVector*>(to) = value; }
[[gnu::always_inline]] inline Vector spread(float value) { return Vector{} + value; }

// e^x by e^x = 2^n e^r with |r| <= ln(2) / 2, the polynomial within 1e-8 of e^r. Below float's normal range the result
// is 0.
[[gnu::always_inline]] inline Vector exponential(Vector x) {
    constexpr float kLowest = -87.3f, kHighest = 88.7f;
    constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
    Vector bounded = x > kHighest ? spread(kHighest) : x;
    bounded = bounded < kLowest ? spread(kLowest) : bounded;
    Vector const shifted = bounded * 1.44269504f + kRounder;
    Vector const n = shifted - kRounder;
    Vector const r = (bounded - n * 0.693145752f) - n * 1.42860682e-06f;
    Vector tail = spread(0.00139261761f);
    tail = tail * r + 0.00836317307f;
    tail = tail * r + 0.0416665547f;
    tail = tail * r + 0.16666577f;
    tail = tail * r + 0.5f;
    Vector const mantissa = (tail * r) * r + r + 1.0f;
    Integers const exponent = (reinterpret_cast<Integers>(shifted) << 23) + (127 << 23);
    return x < kLowest ? Vector{} : mantissa * reinterpret_cast<Vector>(exponent);
}

// Where a product's operand `a` has the element of a row and a depth.
enum class Layout { DepthMajor, Tile };

struct Assign {
    Vector operator()(Vector, Vector sum, int) const { return sum; }
};
struct Add {
    Vector operator()(Vector old, Vector sum, int) const { return old + sum; }
};
struct Rescale {
    float const* factors;
    Vector operator()(Vector old, Vector sum, int vector) const { return old * read(factors + vector * kWidth) + sum; }
};

template <Layout kLayout, class Update>
[[gnu::always_inline]] inline void multiply_block(float const* a, Product const& p, float const* b, float* c,
                                                  Update update) {
    constexpr std::int64_t kRowStep = kLayout == Layout::Tile ? kLanes : 1;
    std::int64_t const depth_step = kLayout == Layout::Tile ? 1 : p.a_stride;
    Vector sum[kRows][kVectors] = {};
    for (std::int64_t k = 0; k < p.depth; ++k) {
        Vector const b0 = read(b), b1 = read(b + kWidth);
#pragma GCC unroll 16
        for (int row = 0; row < kRows; ++row) {
            float const factor = a[row * kRowStep];
            sum[row][0] += b0 * factor;
            sum[row][1] += b1 * factor;
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

template <Layout kLayout, class Update>
[[gnu::always_inline]] inline void multiply_all(Product const& p, Update update) {
    std::int64_t const row_step = kLayout == Layout::Tile ? kLanes : 1;
    for (std::int64_t column = 0; column < p.columns; column += kLanes) {
        for (std::int64_t row = 0; row < p.rows; row += kRows) {
            multiply_block<kLayout>(p.a + row * row_step, p, p.b + column, p.c + row * p.c_stride + column, update);
        }
    }
}

void multiply(Product const& product) { multiply_all<Layout::DepthMajor>(product, Assign{}); }

void rescale_and_multiply(Product const& product, float const* factors) {
    multiply_all<Layout::DepthMajor>(product, Rescale{factors});
}

void multiply_tile(Product const& product) { multiply_all<Layout::Tile>(product, Add{}); }

// The greatest of a lane's scores and `top`; NaN where one of them is.
[[gnu::always_inline]] inline Vector maximum(float const* scores, std::int64_t keys, Vector top) {
    Integers is_nan{};
    for (std::int64_t key = 0; key < keys; ++key) {
        Vector const score = read(scores + key * kLanes);
        is_nan |= score != score;
        top = score > top ? score : top;
    }
    return is_nan ? spread(__builtin_nanf("")) : top;
}

void softmax_step(float* tile, std::int64_t keys, float* running_max, float* running_sum, float* rescale) {
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
        Vector const old_top = read(running_max + lane);
        Vector const top = maximum(tile + lane, keys, old_top);
        // A query that has seen only masked keys: exp(-inf - 0) is the 0 wanted, exp(-inf - -inf) would be NaN.
        Vector const anchor = top == -kInfinity ? Vector{} : top;
        Vector sum{};
        for (std::int64_t key = 0; key < keys; ++key) {
            float* const score = tile + key * kLanes + lane;
            Vector const weight = exponential(read(score) - anchor);
            sum += weight;
            write(score, weight);
        }
        Vector const factor = exponential(old_top - anchor);
        write(running_max + lane, top);
        write(running_sum + lane, read(running_sum + lane) * factor + sum);
        write(rescale + lane, factor);
    }
}

void probabilities(float* tile, std::int64_t keys, float const* stats) {
    for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
        Vector const log_sum = read(stats + lane);
        // A fully masked query has stats of -inf and probabilities of 0.
        Vector const anchor = log_sum == -kInfinity ? spread(kInfinity) : log_sum;
        for (std::int64_t key = 0; key < keys; ++key) {
            float* const score = tile + key * kLanes + lane;
            write(score, exponential(read(score) - anchor));
        }
    }
}

void score_gradients(float* probabilities, float* gradients, std::int64_t keys, GradientTerms const& terms) {
    for (std::int64_t key = 0; key < keys; ++key) {
        for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
            std::int64_t const at = key * kLanes + lane;
            Vector const mask = terms.dropout_mask ? read(terms.dropout_mask + at) : spread(1.0f);
            Vector const weight = read(probabilities + at);
            Vector const difference = read(gradients + at) * mask - read(terms.row_dots + lane);
            Vector const gradient = weight * difference * terms.dropout_scale;
            write(gradients + at, weight == 0.0f ? Vector{} : gradient);
            write(probabilities + at, weight * mask * terms.dropout_scale);
        }
    }
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

}  // namespace

extern Kernels const SDPA_GRAPH_KERNELS;
constinit Kernels const SDPA_GRAPH_KERNELS{SDPA_GRAPH_KERNELS_TITLE, kLanes,        kRows,        multiply,
                                           rescale_and_multiply,     multiply_tile, softmax_step, probabilities,
                                           score_gradients,          scale_lanes};

}  // namespace cudnn_frontend::cpu
