// Transposes tiles of numbers or pairs: part of attention_kernels_body.h.
#pragma once

#include <utility>

namespace cudnn_frontend::cpu {
namespace {

static_assert(Transpose::kStep % kWidth == 0);

template <int kDistance, int... kIndices>
[[gnu::always_inline]] inline void exchange_rows(Vector& first, Vector& second,
                                                 std::integer_sequence<int, kIndices...>) {
    constexpr int kSecond = static_cast<int>(kWidth);  // the first column of the second operand
    Vector const even = __builtin_shufflevector(
        first, second, ((kIndices & kDistance) != 0 ? kIndices - kDistance + kSecond : kIndices)...);
    second = __builtin_shufflevector(first, second,
                                     ((kIndices & kDistance) != 0 ? kIndices + kSecond : kIndices + kDistance)...);
    first = even;
}

// Exchanges the elements off the diagonal in all blocks of 2 x 2 rows and columns at this distance and greater ones.
template <int kDistance>
[[gnu::always_inline]] inline void exchange(Vector (&rows)[kWidth]) {
    if constexpr (kDistance < kWidth) {
#pragma GCC unroll 16
        for (int i = 0; i < kWidth; ++i) {
            if ((i & kDistance) == 0)
                exchange_rows<kDistance>(rows[i], rows[i + kDistance],
                                         std::make_integer_sequence<int, static_cast<int>(kWidth)>{});
        }
        exchange<2 * kDistance>(rows);
    }
}

// kWidth x kWidth numbers. Vectors move the bits, whatever they are.
void transpose_block(std::uint32_t const* from, std::int64_t from_stride, std::uint32_t* to, std::int64_t to_stride) {
    Vector rows[kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) rows[i] = read(reinterpret_cast<float const*>(from + i * from_stride));
    exchange<1>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kWidth; ++i) write(reinterpret_cast<float*>(to + i * to_stride), rows[i]);
}

void transpose(Transpose const& p) {
    for (std::int64_t row = 0; row < p.rows; row += kWidth) {
        for (std::int64_t column = 0; column < p.columns; column += kWidth) {
            // A column of numbers becomes a row, of pairs in blocks.
            std::int64_t const new_row = column, pair = row;
            std::int64_t const to =
                p.to_blocks ? PairBlocks::at(new_row, pair, p.to_stride) : new_row * p.to_stride + pair;
            transpose_block(p.from + row * p.from_stride + column, p.from_stride, p.to + to,
                            p.to_blocks ? PairBlocks::kPairs : p.to_stride);
        }
    }
}

}  // namespace
}  // namespace cudnn_frontend::cpu
