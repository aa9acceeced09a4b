#include "reference/oracle/block_oracle.h"

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

constexpr std::int64_t kBlock = 32;

double power_above(double magnitude, double most) {
    if (magnitude == 0.0) return 1.0;
    double scale = std::exp2(std::floor(std::log2(magnitude / most)) - 1.0);
    while (magnitude / scale > most) scale *= 2.0;
    return scale;
}

// Calls visit(b, h, line, position along the axis) for an array whose axis is swapped to the end.
template <class Visit>
void for_each_line(Array const& x, std::size_t axis, Visit visit) {
    for (std::int64_t b = 0; b < x.dim[0]; ++b)
        for (std::int64_t h = 0; h < x.dim[1]; ++h)
            for (std::int64_t line = 0; line < x.dim[axis == 2 ? 3 : 2]; ++line) visit(b, h, line);
}

}  // namespace

Array quantized_in_blocks(Array const& x, std::size_t axis, Fp8 format) {
    Array result = x;
    for_each_line(x, axis, [&](auto b, auto h, auto line) {
        auto const place = [&](Array& array, std::int64_t n) -> double& {
            return axis == 2 ? array.at(b, h, n, line) : array.at(b, h, line, n);
        };
        for (std::int64_t first = 0; first < x.dim[axis]; first += kBlock) {
            std::int64_t const end = std::min(first + kBlock, x.dim[axis]);
            double greatest = 0.0;
            for (std::int64_t n = first; n < end; ++n) greatest = std::max(greatest, std::abs(place(result, n)));
            double const scale = power_above(greatest, largest(format));
            for (std::int64_t n = first; n < end; ++n) {
                place(result, n) = nearest(format, place(result, n) / scale) * scale;
            }
        }
    });
    return result;
}

Backward backward_in_blocks(Problem const& p, Array const& o, Array const& stats, Array const& d_o,
                            Fp8 of_probabilities, Fp8 of_gradients) {
    auto const zeros = [](Array const& like) { return Array(like.dim[0], like.dim[1], like.dim[2], like.dim[3]); };
    Array const probability = probabilities(scores(p), stats);
    Array kept = zeros(probability), d_product = zeros(probability);
    auto const for_each_score = [&](auto visit) {
        for_each_line(probability, 3, [&](auto b, auto h, auto i) {
            for (std::int64_t j = 0; j < p.keys(); ++j) visit(b, h, i, j);
        });
    };
    for_each_score([&](auto b, auto h, auto i, auto j) {
        double const weight = probability.at(b, h, i, j);
        if (weight == 0.0) return;
        kept.at(b, h, i, j) = weight * p.dropout_at(b, h, i, j);
        d_product.at(b, h, i, j) = product_gradient(p, weight, o, d_o, {b, h, i, j});
    });
    Array const for_values = quantized_in_blocks(kept, 2, of_probabilities);
    Array const for_queries = quantized_in_blocks(d_product, 3, of_gradients);
    Array const for_keys = quantized_in_blocks(d_product, 2, of_gradients);
    Backward result{zeros(p.q), zeros(p.k), zeros(p.v), Array()};
    for_each_score([&](auto b, auto h, auto i, auto j) {
        for (std::int64_t d = 0; d < p.q.dim[3]; ++d) {
            result.d_q.at(b, h, i, d) += for_queries.at(b, h, i, j) * p.k.at(b, p.k_head(h), j, d);
            result.d_k.at(b, p.k_head(h), j, d) += for_keys.at(b, h, i, j) * p.q.at(b, h, i, d);
        }
        for (std::int64_t d = 0; d < p.v.dim[3]; ++d) {
            result.d_v.at(b, p.v_head(h), j, d) += for_values.at(b, h, i, j) * d_o.at(b, h, i, d);
        }
    });
    result.amax_d_q = greatest_magnitude(result.d_q);
    result.amax_d_k = greatest_magnitude(result.d_k);
    result.amax_d_v = greatest_magnitude(result.d_v);
    return result;
}

// Enumerates the memory: tile by tile; in each, 32 groups of 4 rows that are 32 apart, with 4 blocks of each row.
TileOrder::TileOrder(std::int64_t rows, std::int64_t blocks)
    : rows_((rows + 127) / 128 * 128),
      blocks_((blocks + 3) / 4 * 4),
      places_(static_cast<std::size_t>(rows_ * blocks_)) {
    std::int64_t next = 0;
    for (std::int64_t tile_row = 0; tile_row < rows_; tile_row += 128)
        for (std::int64_t tile_block = 0; tile_block < blocks_; tile_block += 4)
            for (std::int64_t group = 0; group < 32; ++group)
                for (std::int64_t row = group; row < 128; row += 32)
                    for (std::int64_t block = 0; block < 4; ++block) {
                        places_[static_cast<std::size_t>((tile_row + row) * blocks_ + tile_block + block)] = next++;
                    }
}

}  // namespace oracle
