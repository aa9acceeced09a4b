// Products of pairs of BFLOAT16 numbers: part of attention_kernels_body.h where the instruction set has them. With
// SDPA_GRAPH_MATRIX_TILES the products are those of matrix_tiles.h, otherwise of vectors.
#pragma once

#ifdef SDPA_GRAPH_MATRIX_TILES
#include "cpu/attention/matrix_tiles.h"
#endif

namespace cudnn_frontend::cpu {
namespace {

static_assert(kWidth == 16 && kVectors == 2);

#ifdef SDPA_GRAPH_MATRIX_TILES
constexpr PairLayout kPairLayout = PairLayout::RowMajor;
constexpr std::int64_t kPairRows = tiles::kTileRows, kDepthStep = tiles::kRowPairs, kPairTileKeys = kMostTileKeys;
#else
constexpr PairLayout kPairLayout = PairLayout::DepthMajor;
constexpr std::int64_t kPairRows = kRows, kDepthStep = 1, kPairTileKeys = kTileKeys;
#endif

void pair_lanes(float const* tile, std::int64_t rows, std::uint32_t* pairs, std::int64_t stride) {
    for (std::int64_t row = 0; row < rows; ++row) {
        Vector const low = read(tile + row * kLanes), high = read(tile + row * kLanes + kWidth);
        _mm512_storeu_si512(pairs + row * stride, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
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

constexpr float kLog2OfE = 1.44269504f;

// 2^x, within 2e-7 of it. Subnormal results become 0.
[[gnu::always_inline]] inline Vector power_of_two(Vector x) {
    constexpr float kLowest = -126.0f;
    constexpr int kFloor = 0x09;  // to integers, without exceptions
    Vector const r = _mm512_reduce_ps(x, kFloor);
    Vector tail = spread(0.00186713017f);
    tail = tail * r + 0.00901702978f;
    tail = tail * r + 0.0557999127f;
    tail = tail * r + 0.240164444f;
    tail = tail * r + 0.693151295f;
    Vector const mantissa = tail * r + 1.0f;
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(x, spread(kLowest), _CMP_NLT_UQ), mantissa, x);
}

// The second one where either is NaN. With all lanes in the mask this is one instruction, and GCC 12 warns of the
// function without a mask.
[[gnu::always_inline]] inline Vector larger(Vector a, Vector b) { return _mm512_maskz_max_ps(0xffff, a, b); }

// The maximum of a lane's scores, except NaN.
[[gnu::always_inline]] inline Vector maximum_of_numbers(float const* scores, std::int64_t keys) {
    Vector tops[4];
    for (Vector& top : tops) top = spread(-kInfinity);
    std::int64_t key = 0;
    for (; key + 4 <= keys; key += 4) {
        for (int i = 0; i < 4; ++i) tops[i] = larger(read(scores + (key + i) * kLanes), tops[i]);
    }
    for (; key < keys; ++key) tops[0] = larger(read(scores + key * kLanes), tops[0]);
    return larger(larger(tops[0], tops[1]), larger(tops[2], tops[3]));
}

struct SoftmaxLanes {
    Vector top, sum, factor;
};

// For one vector of lanes.
[[gnu::always_inline]] inline SoftmaxLanes softmax_lanes(SoftmaxPairs const& step, std::int64_t lane) {
    float const* const scores = step.tile + lane;
    Vector const old_top = read(step.running_max + lane);
    Vector const top = larger(maximum_of_numbers(scores, step.keys) * step.scale, old_top);
    // Both are rounded, so that their difference is exactly what converts weights from one to the other.
    Vector const anchor = top == -kInfinity ? Vector{} : top * kLog2OfE;
    Vector const old_anchor = old_top == -kInfinity ? old_top : old_top * kLog2OfE;
    Vector const scale = spread(step.scale * kLog2OfE);
    auto const weight = [&](std::int64_t key) { return power_of_two(read(scores + key * kLanes) * scale - anchor); };
    Vector even{}, odd{};
    std::uint32_t* const pairs = step.pairs + lane;
    std::int64_t const whole = step.keys / 2;
    for (std::int64_t pair = 0; pair < whole; ++pair) {
        Vector const low = weight(2 * pair), high = weight(2 * pair + 1);
        even += low;
        odd += high;
        _mm512_storeu_si512(pairs + pair * kLanes, pairs_of(low, high));
    }
    if (step.keys % 2 != 0) {
        Vector const low = weight(2 * whole);
        even += low;
        _mm512_storeu_si512(pairs + whole * kLanes, pairs_of(low, Vector{}));
    }
    Vector const factor = power_of_two(old_anchor - anchor);
    return {top, read(step.running_sum + lane) * factor + even + odd, top == old_top ? spread(1.0f) : factor};
}

void keep(SoftmaxPairs const& step, std::int64_t lane, SoftmaxLanes const& lanes) {
    write(step.running_max + lane, lanes.top);
    write(step.running_sum + lane, lanes.sum);
    write(step.rescale + lane, lanes.factor);
}

bool softmax_step_of_pairs(SoftmaxPairs const& step) {
    SoftmaxLanes const first = softmax_lanes(step, 0), second = softmax_lanes(step, kWidth);
    if (_mm512_cmp_ps_mask(first.sum, second.sum, _CMP_UNORD_Q) != 0) return false;
    keep(step, 0, first);
    keep(step, kWidth, second);
    clear_missing_rows(step.keys, step.pairs);
    return true;
}

// P and dS of one row, in the order of lanes.
struct RowPairs {
    __m512i weights, gradients;
};

struct GradientLanes {
    Vector anchors[kVectors], dots[kVectors], scale;
};

[[gnu::always_inline]] inline GradientLanes gradient_lanes(GradientPairs const& p) {
    GradientLanes lanes;
    for (int i = 0; i < kVectors; ++i) {
        Vector const stats = read(p.stats + i * kWidth);
        // A fully masked query has stats of -inf and probabilities of 0.
        lanes.anchors[i] = stats == -kInfinity ? spread(kInfinity) : stats * kLog2OfE;
        lanes.dots[i] = read(p.row_dots + i * kWidth);
    }
    lanes.scale = spread(p.scale * kLog2OfE);
    return lanes;
}

[[gnu::always_inline]] inline RowPairs row_pairs(GradientPairs const& p, GradientLanes const& lanes, std::int64_t key) {
    Vector weights[kVectors], gradients[kVectors];
    for (int i = 0; i < kVectors; ++i) {
        std::int64_t const at = key * kLanes + i * kWidth;
        weights[i] = power_of_two(read(p.scores + at) * lanes.scale - lanes.anchors[i]);
        __mmask16 const counts = _mm512_cmp_ps_mask(weights[i], Vector{}, _CMP_NEQ_UQ);
        gradients[i] = _mm512_maskz_mul_ps(counts, weights[i], read(p.gradients + at) - lanes.dots[i]);
    }
    return {reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(weights[1], weights[0])),
            reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(gradients[1], gradients[0]))};
}

[[gnu::always_inline]] inline void store_row(GradientPairs const& p, std::int64_t key, RowPairs const& row) {
    if (p.weights_by_lanes != nullptr) _mm512_storeu_si512(p.weights_by_lanes + key * p.stride, row.weights);
    if (p.gradients_by_lanes != nullptr) _mm512_storeu_si512(p.gradients_by_lanes + key * p.stride, row.gradients);
}

void score_gradients_of_pairs(GradientPairs const& p) {
    // Number i of the first row, then of the second one, for each lane of the first or the second vector.
    alignas(64) static constexpr std::uint16_t kFirst[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                             37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                             11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    __m512i const first = _mm512_load_si512(kFirst);
    auto const second = reinterpret_cast<__m512i>(reinterpret_cast<Integers>(first) + 0x00100010);
    GradientLanes const lanes = gradient_lanes(p);
    for (std::int64_t key = 0; key < p.keys; key += 2) {
        bool const is_whole = key + 1 < p.keys;
        RowPairs const even = row_pairs(p, lanes, key);
        RowPairs const odd = is_whole ? row_pairs(p, lanes, key + 1) : RowPairs{};
        store_row(p, key, even);
        if (is_whole) store_row(p, key + 1, odd);
        if (p.gradients_by_rows == nullptr) continue;
        std::uint32_t* const rows = p.gradients_by_rows + key / 2 * kLanes;
        _mm512_storeu_si512(rows, _mm512_permutex2var_epi16(even.gradients, first, odd.gradients));
        _mm512_storeu_si512(rows + kWidth, _mm512_permutex2var_epi16(even.gradients, second, odd.gradients));
    }
    for (std::int64_t row = p.keys; row < p.rows; ++row) store_row(p, row, RowPairs{});
    if (p.gradients_by_rows != nullptr) clear_missing_rows(p.keys, p.gradients_by_rows);
}

#ifdef SDPA_GRAPH_MATRIX_TILES

void begin() { tiles::configure(); }
void end() { tiles::release(); }

enum class Sums { New, Old };

// One or two tiles of rows by two of columns, over the whole depth. Sums are in the tiles 0 to 3.
template <int kRowTiles, Sums kSums>
[[gnu::always_inline]] inline void multiply_tiles(PairProduct const& p, std::int64_t row, std::int64_t column) {
    constexpr std::int64_t kSide = tiles::kTileRows;
    std::int64_t const a_bytes = p.a_stride * 4, b_bytes = p.b_stride * 4, c_bytes = p.c_stride * 4;
    float* const c = p.c + row * p.c_stride + column;
    float* const below = c + kSide * p.c_stride;
    if constexpr (kSums == Sums::New) {
        tiles::clear<0>(), tiles::clear<1>();
        if constexpr (kRowTiles == 2) tiles::clear<2>(), tiles::clear<3>();
    } else {
        tiles::load<0>(c, c_bytes), tiles::load<1>(c + kSide, c_bytes);
        if constexpr (kRowTiles == 2) tiles::load<2>(below, c_bytes), tiles::load<3>(below + kSide, c_bytes);
    }
    std::uint32_t const *a = p.a + row * p.a_stride, *b = p.b + column;
    for (std::int64_t pair = 0; pair < p.depth; pair += tiles::kRowPairs) {
        tiles::load<4>(a + pair, a_bytes);
        tiles::load<6>(b + pair * p.b_stride, b_bytes);
        tiles::multiply<0, 4, 6>();
        tiles::load<7>(b + pair * p.b_stride + kSide, b_bytes);
        tiles::multiply<1, 4, 7>();
        if constexpr (kRowTiles == 2) {
            tiles::load<5>(a + kSide * p.a_stride + pair, a_bytes);
            tiles::multiply<2, 5, 6>();
            tiles::multiply<3, 5, 7>();
        }
    }
    tiles::store<0>(c, c_bytes), tiles::store<1>(c + kSide, c_bytes);
    if constexpr (kRowTiles == 2) tiles::store<2>(below, c_bytes), tiles::store<3>(below + kSide, c_bytes);
}

// Calls finish(row, rows) for rows whose sums are complete.
template <Sums kSums, class Finish>
[[gnu::always_inline]] inline void multiply_all_tiles(PairProduct const& p, Finish finish) {
    constexpr std::int64_t kSide = tiles::kTileRows;
    for (std::int64_t column = 0; column < p.columns; column += 2 * kSide) {
        std::int64_t row = 0;
        for (; row + 2 * kSide <= p.rows; row += 2 * kSide) {
            multiply_tiles<2, kSums>(p, row, column);
            finish(row, 2 * kSide);
        }
        if (row < p.rows) {
            multiply_tiles<1, kSums>(p, row, column);
            finish(row, kSide);
        }
    }
}

// Products with a tile have one block of columns.
void multiply_pairs(PairProduct const& product, float scale) {
    multiply_all_tiles<Sums::New>(product, [&](std::int64_t first, std::int64_t rows) {
        if (scale == 1.0f) return;
        for (std::int64_t row = first; row < first + rows; ++row) {
            float* const c = product.c + row * product.c_stride;
            write(c, read(c) * scale);
            write(c + kWidth, read(c + kWidth) * scale);
        }
    });
}

void rescale_and_multiply_pairs(PairProduct const& product, float const* factors) {
    Vector const first = read(factors), second = read(factors + kWidth);
    if (_mm512_cmp_ps_mask(first, spread(1.0f), _CMP_NEQ_UQ) != 0 ||
        _mm512_cmp_ps_mask(second, spread(1.0f), _CMP_NEQ_UQ) != 0) {
        for (std::int64_t row = 0; row < product.rows; ++row) {
            float* const c = product.c + row * product.c_stride;
            write(c, first == 0.0f ? Vector{} : read(c) * first);
            write(c + kWidth, second == 0.0f ? Vector{} : read(c + kWidth) * second);
        }
    }
    multiply_all_tiles<Sums::Old>(product, [](std::int64_t, std::int64_t) {});
}

void multiply_tile_of_pairs(PairProduct const& product) {
    multiply_all_tiles<Sums::Old>(product, [](std::int64_t, std::int64_t) {});
}

// Exchanges the elements off the diagonal in all blocks of 2 x 2 rows and columns at this distance.
template <int kDistance>
[[gnu::always_inline]] inline void exchange(__m512i (&rows)[16]) {
    typedef std::int32_t Columns __attribute__((vector_size(64)));
    constexpr Columns kAll = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    constexpr int kSecond = 16;  // the first column of the second operand
    Columns const is_odd = (kAll & kDistance) != 0;
    auto const even = reinterpret_cast<__m512i>(is_odd ? kAll - kDistance + kSecond : kAll);
    auto const odd = reinterpret_cast<__m512i>(is_odd ? kAll + kSecond : kAll + kDistance);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
        if ((i & kDistance) != 0) continue;
        __m512i const first = rows[i], second = rows[i + kDistance];
        rows[i] = _mm512_permutex2var_epi32(first, even, second);
        rows[i + kDistance] = _mm512_permutex2var_epi32(first, odd, second);
    }
}

// 16 x 16 pairs.
void transpose_block(std::uint32_t const* from, std::int64_t from_stride, std::uint32_t* to, std::int64_t to_stride) {
    __m512i rows[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) rows[i] = _mm512_loadu_si512(from + i * from_stride);
    exchange<1>(rows);
    exchange<2>(rows);
    exchange<4>(rows);
    exchange<8>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_stride, rows[i]);
}

void transpose(PairTranspose const& pairs) {
    for (std::int64_t row = 0; row < pairs.rows; row += 16) {
        for (std::int64_t column = 0; column < pairs.columns; column += 16) {
            transpose_block(pairs.from + row * pairs.from_stride + column, pairs.from_stride,
                            pairs.to + column * pairs.to_stride + row, pairs.to_stride);
        }
    }
}

#else

void begin() {}
void end() {}

struct Scale {
    float factor;
    Vector operator()(Vector, Vector sum, int) const { return sum * factor; }
};

void multiply_pairs(PairProduct const& product, float scale) {
    multiply_all<FactorLayout::DepthMajor, Zeros::Multiply>(product, Scale{scale});
}

void rescale_and_multiply_pairs(PairProduct const& product, float const* factors) {
    multiply_all<FactorLayout::DepthMajor, Zeros::Multiply>(product, Rescale<Zeros::LeaveOut>{factors});
}

void multiply_tile_of_pairs(PairProduct const& product) {
    multiply_all<FactorLayout::Tile, Zeros::Multiply>(product, Add{});
}

constexpr auto transpose = nullptr;

#endif

constexpr PairKernels kPairKernels{kPairLayout,
                                   kPairRows,
                                   kDepthStep,
                                   kPairTileKeys,
                                   begin,
                                   end,
                                   multiply_pairs,
                                   rescale_and_multiply_pairs,
                                   multiply_tile_of_pairs,
                                   pair_lanes,
                                   pair_rows,
                                   softmax_step_of_pairs,
                                   score_gradients_of_pairs,
                                   transpose};

}  // namespace
}  // namespace cudnn_frontend::cpu
