// Products of pairs by AMX tiles: part of pair_kernels_body.h.
#pragma once

namespace cudnn_frontend::cpu {
namespace {

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

// Calls finish(begin, end) for rows whose sums are complete.
template <Sums kSums, class Finish>
[[gnu::always_inline]] inline void multiply_all_tiles(PairProduct const& p, Finish finish) {
    constexpr std::int64_t kSide = tiles::kTileRows;
    for (std::int64_t column = 0; column < p.columns; column += 2 * kSide) {
        std::int64_t row = 0;
        for (; row + 2 * kSide <= p.rows; row += 2 * kSide) {
            multiply_tiles<2, kSums>(p, row, column);
            finish(row, row + 2 * kSide);
        }
        if (row < p.rows) {
            multiply_tiles<1, kSums>(p, row, column);
            finish(row, row + kSide);
        }
    }
}

// Products with a tile have one block of columns.
void multiply_pairs(PairProduct const& product, float scale) {
    multiply_all_tiles<Sums::New>(product, [&](std::int64_t begin, std::int64_t end) {
        if (scale == 1.0f) return;
        for (std::int64_t row = begin; row < end; ++row) {
            float* const c = product.c + row * product.c_stride;
            write(c, read(c) * scale);
            write(c + kWidth, read(c + kWidth) * scale);
        }
    });
}

void rescale_and_multiply_pairs(PairProduct const& product, float const* factors) {
    rescale(product.c, product.rows, factors);
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

// The products of SoftmaxPairs, of which each call runs one block: as long as the matrix unit computes it, the
// processor goes on with the instructions after the call.
class Meanwhile {
   public:
    explicit Meanwhile(SoftmaxPairs const& step) : step_(step) {}

    [[gnu::noinline]] void run_next() {
        if (assigned_ < step_.assigned.rows) run<Sums::New>(step_.assigned, assigned_);
        else if (added_ < step_.added.rows) run<Sums::Old>(step_.added, added_);
    }
    void finish() {
        while (assigned_ < step_.assigned.rows || added_ < step_.added.rows) run_next();
    }

   private:
    template <Sums kSums>
    static void run(PairProduct const& product, std::int64_t& row) {
        constexpr std::int64_t kSide = tiles::kTileRows, kBlock = 2 * kSide;
        if (row + kBlock <= product.rows) multiply_tiles<2, kSums>(product, row, 0);
        else multiply_tiles<1, kSums>(product, row, 0);
        row += kBlock;
    }

    SoftmaxPairs const& step_;
    std::int64_t assigned_ = 0, added_ = 0;  // the next rows
};

}  // namespace
}  // namespace cudnn_frontend::cpu
