// Few queries against rows of keys and values as they lie in memory: part of attention_kernels_body.h. A tile for so
// few would mostly multiply lanes that no query fills, after it brought each key into another order.
#pragma once

#include <utility>

namespace cudnn_frontend::cpu {
namespace {

static_assert(kRowStep % kWidth == 0);

// The elements of rows, of which one vector is loaded at a time.
struct FloatRows {
    using Element = float;
    [[gnu::always_inline]] static Vector load(float const* from) { return read(from); }
};
struct Bfloat16Rows {
    using Element = std::uint16_t;
    typedef std::uint16_t Numbers __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES / 2), aligned(2), may_alias));
    typedef std::uint32_t Bits __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES)));
    [[gnu::always_inline]] static Vector load(std::uint16_t const* from) {
#ifdef __AVX512F__
        // GCC 12 widens the vector's halves one by one.
        __m256i const numbers = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from));
        Bits const bits = reinterpret_cast<Bits>(_mm512_maskz_cvtepu16_epi32(kAllLanes, numbers));
#else
        Bits const bits = __builtin_convertvector(*reinterpret_cast<Numbers const*>(from), Bits);
#endif
        return reinterpret_cast<Vector>(bits << 16);
    }
};

// Starts to load elements of a later row, while those before it are multiplied. It may be behind the last row.
template <class Element>
[[gnu::always_inline]] inline void prefetch(Element const* row, std::int64_t stride, std::int64_t count) {
    constexpr std::int64_t kCacheLine = 64, kBytes = sizeof(Element);
    constexpr std::uintptr_t kRowsAhead = 16;
    auto const later =
        reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(stride) * kRowsAhead * sizeof(Element);
    for (std::int64_t i = 0; i < count * kBytes; i += kCacheLine)
        __builtin_prefetch(reinterpret_cast<void const*>(later + static_cast<std::uintptr_t>(i)));
}

// The sums of neighbors of a, then of b.
template <int... kIndices>
[[gnu::always_inline]] inline Vector sums_of_neighbors(Vector a, Vector b, std::integer_sequence<int, kIndices...>) {
    return __builtin_shufflevector(a, b, (2 * kIndices)...) + __builtin_shufflevector(a, b, (2 * kIndices + 1)...);
}

// The sum of each vector, in the order of these.
[[gnu::always_inline]] inline Vector sum_each(Vector (&vectors)[kWidth]) {
#pragma GCC unroll 16
    for (std::int64_t count = kWidth / 2; count > 0; count /= 2) {
#pragma GCC unroll 16
        for (std::int64_t i = 0; i < count; ++i)
            vectors[i] = sums_of_neighbors(vectors[2 * i], vectors[2 * i + 1],
                                           std::make_integer_sequence<int, static_cast<int>(kWidth)>{});
    }
    return vectors[0];
}

// The products of kCount vectors, from one on, with all rows.
template <class Rows, int kCount>
[[gnu::always_inline]] inline void dot_rows_as(RowProducts const& p, std::int64_t first) {
    auto const* const rows = static_cast<typename Rows::Element const*>(p.rows);
    float const* const vectors = p.vectors + first * p.vector_stride;
    for (std::int64_t begin = 0; begin < p.count; begin += kWidth) {
        std::int64_t const count = p.count - begin < kWidth ? p.count - begin : kWidth;
        Vector products[kCount][kWidth];
        for (std::int64_t row = count; row < kWidth; ++row)
            for (int i = 0; i < kCount; ++i) products[i][row] = Vector{};
        for (std::int64_t row = 0; row < count; ++row) {
            auto const* const from = rows + (begin + row) * p.stride;
            prefetch(from, p.stride, p.width);
            Vector sums[kCount] = {};
            for (std::int64_t column = 0; column < p.width; column += kWidth) {
                Vector const numbers = Rows::load(from + column);
#pragma GCC unroll 4
                for (int i = 0; i < kCount; ++i) sums[i] += numbers * read(vectors + i * p.vector_stride + column);
            }
#pragma GCC unroll 4
            for (int i = 0; i < kCount; ++i) products[i][row] = sums[i];
        }
        for (int i = 0; i < kCount; ++i) {
            float* const to = p.weights + (first + i) * p.weight_stride + begin;
            Vector const sums = sum_each(products[i]);
            if (count == kWidth) write(to, sums);
            else
                for (std::int64_t row = 0; row < count; ++row) to[row] = sums[row];
        }
    }
}

// Adds the products of weights and rows to kCount vectors, in kColumns vectors of columns.
template <class Rows, int kCount, int kColumns>
[[gnu::always_inline]] inline void add_columns_of_rows(RowProducts const& p, std::int64_t first, std::int64_t column) {
    auto const* rows = static_cast<typename Rows::Element const*>(p.rows) + column;
    float* const vectors = p.vectors + first * p.vector_stride + column;
    float const* const weights = p.weights + first * p.weight_stride;
    Vector sums[kCount][kColumns] = {};
    for (std::int64_t row = 0; row < p.count; ++row, rows += p.stride) {
        prefetch(rows, p.stride, kColumns * kWidth);
        Vector numbers[kColumns];
#pragma GCC unroll 4
        for (int c = 0; c < kColumns; ++c) numbers[c] = Rows::load(rows + c * kWidth);
#pragma GCC unroll 4
        for (int i = 0; i < kCount; ++i) {
            float const weight = weights[i * p.weight_stride + row];
            if (p.leaves_out_zeros && weight == 0.0f) continue;
#pragma GCC unroll 4
            for (int c = 0; c < kColumns; ++c) sums[i][c] += numbers[c] * weight;
        }
    }
    for (int i = 0; i < kCount; ++i) {
        for (int c = 0; c < kColumns; ++c) {
            float* const to = vectors + i * p.vector_stride + c * kWidth;
            write(to, read(to) + sums[i][c]);
        }
    }
}

template <class Rows, int kCount>
[[gnu::always_inline]] inline void add_rows_as(RowProducts const& p, std::int64_t first) {
    constexpr std::int64_t kColumns = 4;
    std::int64_t column = 0;
    for (; column + kColumns * kWidth <= p.width; column += kColumns * kWidth)
        add_columns_of_rows<Rows, kCount, kColumns>(p, first, column);
    for (; column < p.width; column += kWidth) add_columns_of_rows<Rows, kCount, 1>(p, first, column);
}

// Calls step.template run<Rows, kCount>(first) for all vectors, four or one at a time.
template <class Step>
[[gnu::always_inline]] inline void for_each_vector(RowProducts const& p, Step step) {
    auto const run = [&]<class Rows>(Rows) __attribute__((always_inline)) {
        std::int64_t first = 0;
        for (; first + 4 <= p.vector_count; first += 4) step.template run<Rows, 4>(first);
        for (; first < p.vector_count; ++first) step.template run<Rows, 1>(first);
    };
    if (p.are_bfloat16) run(Bfloat16Rows{});
    else run(FloatRows{});
}

struct DotRows {
    RowProducts const& p;
    template <class Rows, int kCount>
    void run(std::int64_t first) const {
        dot_rows_as<Rows, kCount>(p, first);
    }
};
struct AddRows {
    RowProducts const& p;
    template <class Rows, int kCount>
    void run(std::int64_t first) const {
        add_rows_as<Rows, kCount>(p, first);
    }
};

void dot_rows(RowProducts const& products) { for_each_vector(products, DotRows{products}); }
void add_rows(RowProducts const& products) { for_each_vector(products, AddRows{products}); }

#if defined(__AVX512F__) || defined(__F16C__)
void half_to_floats(std::uint16_t const* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; i += kWidth) {
#ifdef __AVX512F__
        __m256i const numbers = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(from + i));
        write(to + i, _mm512_maskz_cvtph_ps(kAllLanes, numbers));
#else
        write(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<__m128i const*>(from + i))));
#endif
    }
}
#endif

RowSoftmax softmax_row(float* scores, std::int64_t count) {
    std::int64_t const rows = count / kWidth;
    Vector const tops = maximum_of_numbers(scores, rows, kWidth);
    float most = tops[0];
    for (std::int64_t lane = 1; lane < kWidth; ++lane) most = tops[lane] > most ? tops[lane] : most;
    Vector top = spread(most);
    Vector const sums = weigh(scores, rows, kWidth, top);
    float sum = 0.0f, max = most;
    for (std::int64_t lane = 0; lane < kWidth; ++lane) {
        sum += sums[lane];
        max = top[lane] != top[lane] ? top[lane] : max;
    }
    return {max, sum};
}

}  // namespace
}  // namespace cudnn_frontend::cpu
