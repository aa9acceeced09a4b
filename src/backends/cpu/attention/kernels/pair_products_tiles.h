// Products of pairs by AMX tiles: part of pair_kernels_body.h.
#pragma once

namespace cudnn_frontend::cpu {
namespace {

void begin() { tiles::configure(); }
void end() { tiles::release(); }

enum class Sums { New, Old };

// One or two tiles of rows, which are those of a block, by two of columns, over the whole depth. Sums are in the tiles
// 0 to 3.
template <int kRowTiles, Sums kSums>
[[gnu::always_inline]] inline void multiply_tiles(PairProduct const& p, std::int64_t row, std::int64_t column) {
    constexpr std::int64_t kSide = tiles::kTileRows;
    constexpr std::int64_t kRowBytes = tiles::kRowBytes;
    std::int64_t const b_bytes = p.b_stride * 4, c_bytes = p.c_stride * 4;
    float* const c = p.c + row * p.c_stride + column;
    float* const below = c + kSide * p.c_stride;
    if constexpr (kSums == Sums::New) {
        tiles::clear<0>(), tiles::clear<1>();
        if constexpr (kRowTiles == 2) tiles::clear<2>(), tiles::clear<3>();
    } else {
        tiles::load<0>(c, c_bytes), tiles::load<1>(c + kSide, c_bytes);
        if constexpr (kRowTiles == 2) tiles::load<2>(below, c_bytes), tiles::load<3>(below + kSide, c_bytes);
    }
    std::uint32_t const *a = p.a + row / PairBlocks::kRows * p.a_stride, *b = columns_of(p, column);
    for (std::int64_t pair = 0; pair < p.depth; pair += PairBlocks::kPairs, a += PairBlocks::kSize) {
        tiles::load<4>(a, kRowBytes);
        tiles::load<6>(b + pair * p.b_stride, b_bytes);
        tiles::multiply<0, 4, 6>();
        tiles::load<7>(b + pair * p.b_stride + kSide, b_bytes);
        tiles::multiply<1, 4, 7>();
        if constexpr (kRowTiles == 2) {
            tiles::load<5>(a + kSide * tiles::kRowPairs, kRowBytes);
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

// Computes products in blocks of rows: as long as the matrix unit is at some, the processor goes on with the
// instructions after the call.
class Meanwhile {
   public:
    explicit Meanwhile(ProductsMeanwhile const& products) : products_(products) {}

    // Computes a block; of a product that is assigned only among the first `free` rows.
    [[gnu::noinline]] void run_next(std::int64_t free) {
        for (int i = 0; i < 2; ++i) {
            if (assigned_[i] + kBlock > free || assigned_[i] >= products_.assigned[i].rows) continue;
            return run<Sums::New>(products_.assigned[i], assigned_[i]);
        }
        if (added_ < products_.added.rows) run<Sums::Old>(products_.added, added_);
    }
    void finish() {
        for (int i = 0; i < 2; ++i) {
            while (assigned_[i] < products_.assigned[i].rows) run<Sums::New>(products_.assigned[i], assigned_[i]);
        }
        while (added_ < products_.added.rows) run<Sums::Old>(products_.added, added_);
    }

   private:
    static constexpr std::int64_t kBlock = 2 * tiles::kTileRows;

    template <Sums kSums>
    [[gnu::always_inline]] static void run(PairProduct const& product, std::int64_t& row) {
        if (row + kBlock <= product.rows) multiply_tiles<2, kSums>(product, row, 0);
        else multiply_tiles<1, kSums>(product, row, 0);
        row += kBlock;
    }

    ProductsMeanwhile const& products_;
    std::int64_t assigned_[2] = {}, added_ = 0;  // the next rows
};

}  // namespace
}  // namespace cudnn_frontend::cpu
