// Products of pairs, by AMX tiles with SDPA_GRAPH_MATRIX_TILES and by vectors otherwise: part of pair_kernels_body.h.
#pragma once

namespace cudnn_frontend::cpu {
namespace {

#ifdef SDPA_GRAPH_MATRIX_TILES

void begin() { tiles::configure(); }
void end() { tiles::release(); }

enum class Sums { New, Old };

constexpr std::int64_t kSide = tiles::kTileRows;

struct Nothing {
    void operator()() const {}
};

// One or two tiles of rows, which are those of a block, by two of columns, over the whole depth. Sums are in the tiles
// 0 to 3. Calls between() at some places, as places_of() says.
template <int kRowTiles, Sums kSums, class Between = Nothing>
[[gnu::always_inline]] inline void multiply_tiles(PairProduct const& p, std::int64_t row, std::int64_t column,
                                                  Between between = {}) {
    constexpr std::int64_t kRowBytes = tiles::kRowBytes;
    std::int64_t const b_bytes = p.b_stride * 4, c_bytes = p.c_stride * 4;
    float* const c = p.c + row * p.c_stride + column;
    float* const below = c + kSide * p.c_stride;
    if constexpr (kSums == Sums::New) {
        tiles::clear<0>(), tiles::clear<1>();
        if constexpr (kRowTiles == 2) tiles::clear<2>(), tiles::clear<3>();
    } else {
        tiles::load<0>(c, c_bytes), tiles::load<1>(c + kSide, c_bytes);
        if constexpr (kRowTiles == 2) {
            between();
            tiles::load<2>(below, c_bytes), tiles::load<3>(below + kSide, c_bytes);
        }
    }
    std::uint32_t const *a = p.a + row / PairBlocks::kRows * p.a_stride, *b = columns_of(p, column);
    std::int64_t const b_step = PairBlocks::kPairs * p.b_stride;
    for (std::int64_t step = p.depth / PairBlocks::kPairs; step > 0; --step, a += PairBlocks::kSize, b += b_step) {
        tiles::load<4>(a, kRowBytes);
        tiles::load<6>(b, b_bytes);
        tiles::multiply<0, 4, 6>();
        between();
        tiles::load<7>(b + kSide, b_bytes);
        tiles::multiply<1, 4, 7>();
        if constexpr (kRowTiles == 2) {
            tiles::load<5>(a + kSide * tiles::kRowPairs, kRowBytes);
            tiles::multiply<2, 5, 6>();
            tiles::multiply<3, 5, 7>();
        }
        between();
    }
    tiles::store<0>(c, c_bytes), tiles::store<1>(c + kSide, c_bytes);
    if constexpr (kRowTiles == 2) {
        between();
        tiles::store<2>(below, c_bytes), tiles::store<3>(below + kSide, c_bytes);
    }
}

// The places at which multiply_tiles() calls between() for two tiles of rows.
constexpr std::int64_t places_of(Sums sums, std::int64_t depth) {
    return 2 * (depth / PairBlocks::kPairs) + (sums == Sums::Old ? 2 : 1);
}

// Calls finish(begin, end) for rows whose sums are complete.
template <Sums kSums, class Finish>
[[gnu::always_inline]] inline void multiply_all_tiles(PairProduct const& p, Finish finish) {
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

// How much work goes on at each place between a product's instructions, so that both end at about the same time.
class Pace {
   public:
    Pace(ProductsMeanwhile const& products, std::int64_t parts) : parts_(parts) {
        for (PairProduct const& product : products.assigned) add(product, Sums::New);
        add(products.added, Sums::Old);
    }

    template <class Work>
    [[gnu::always_inline]] void go_on(Work& work) {
        due_ += parts_;
        while (due_ >= places_ && !work.is_done()) {
            due_ -= places_;
            work.go_on();
        }
    }

   private:
    void add(PairProduct const& product, Sums sums) {
        places_ += (product.rows + PairBlocks::kRows - 1) / PairBlocks::kRows * places_of(sums, product.depth);
    }

    std::int64_t parts_, places_ = 0, due_ = 0;
};

// The rows of a product from one on, at most a block of them.
template <Sums kSums, class Between>
[[gnu::always_inline]] inline void multiply_block(PairProduct const& p, std::int64_t row, Between between) {
    if (row + PairBlocks::kRows <= p.rows) multiply_tiles<2, kSums>(p, row, 0, between);
    else multiply_tiles<1, kSums>(p, row, 0);
}

// Computes products in blocks of rows, with some of the work between their instructions. The matrix unit computes while
// other instructions run, but its loads and stores are sequences of the processor's microcode, behind which others
// wait: so a few of one kind follow a few of the other. Where the work has finished rows, assigned products write them.
template <class Work>
[[gnu::always_inline]] inline void multiply_meanwhile(ProductsMeanwhile const& products, Work& work) {
    constexpr std::int64_t kBlock = PairBlocks::kRows;
    Pace pace(products, work.parts());
    auto const between = [&]() __attribute__((always_inline)) { pace.go_on(work); };
    std::int64_t assigned[2] = {}, added = 0;  // the next rows
    while (true) {
        bool const is_done = work.is_done();
        auto const is_next = [&](int i) {
            return assigned[i] < products.assigned[i].rows && (is_done || assigned[i] + kBlock <= work.rows_done());
        };
        int const i = is_next(0) ? 0 : 1;
        if (is_next(i)) {
            work.release_rows();
            multiply_block<Sums::New>(products.assigned[i], assigned[i], between);
            assigned[i] += kBlock;
        } else if (added < products.added.rows) {
            multiply_block<Sums::Old>(products.added, added, between);
            added += kBlock;
        } else if (!is_done) {
            work.go_on();
        } else {
            break;
        }
    }
    work.release_rows();
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

// Products in the meantime: there are none.
template <class Work>
[[gnu::always_inline]] inline void multiply_meanwhile(ProductsMeanwhile const&, Work& work) {
    while (!work.is_done()) work.go_on();
    work.release_rows();
}

#endif

}  // namespace
}  // namespace cudnn_frontend::cpu
