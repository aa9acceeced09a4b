// How far a correct result may lie from the exact one: first-order rounding error analysis of the formula, element by
// element, from accumulation lengths, data types and the magnitudes that really occur.
//
// With u the unit roundoff of the arithmetic, n the length of a sum and |x| the sum of its terms' magnitudes:
//   a sum of n products is off by at most           (n + 2) u |x|
//   a score s by                                    delta = u ((d_qk + 2) scale |q||k| + 4 (|bias| + |alibi| + |s|))
//   a probability, relatively, by                   2 delta_row + (2 s_kv + 16) u
//     (numerator and denominator, exp within 4 ulp, the row maximum's subtraction, rescaling from block to block)
//   where an implementation rounds intermediate results to the inputs' type: that roundoff more for each,
//   whatever is computed from those by their sum of effects, plus (n + 4) u of its own sum,
//   and a stored element by half an ulp of its type.
// Where the problem narrows numbers to 8 bits, an implementation that rounds the same numbers may end at a neighbor
// where its number and the exact one lie on two sides of a boundary, and nowhere else. Where a probability or a product
// falls below the smallest normal number it may be flushed to zero. Constants that a graph carries (slopes, dropout's
// 1/(1-p)) are single precision whatever the arithmetic.
#pragma once

#include "reference/oracle/oracle.h"

#include <cudnn_frontend/types.h>

namespace oracle {

struct Precision {
    double unit;                          // roundoff of the arithmetic
    cudnn_frontend::DataType_t io, bias;  // how O and the gradients, and dBias, are stored
    // Roundoff, and half the spacing of the smallest numbers: for probabilities and dS before a product, for
    // probabilities before dS is computed from them, for query heads' gradients before those that share a key head are
    // added, and for sums of dBias.
    double factor_unit = 0.0, factor_floor = 0.0;
    double gradient_unit = 0.0, gradient_floor = 0.0;  // of dS; FP8 attention has other types and scales there
    // The unit of sums of products that tensor cores accumulate with fewer bits than the arithmetic, relative to the
    // sum of their magnitudes.
    double product_unit = 0.0;
    // The unit of the maximum and the sum of a row if they are outputs: probabilities are computed from the stored
    // values.
    double row_unit = 0.0;
    double stats_unit = 0.0;   // of the factor between Stats of another base and natural ones
    double parts_floor = 0.0;  // of sums of partial gradients: half the spacing of the smallest numbers, for each

    static constexpr double kSingle = 0x1p-24;
    static constexpr double kDouble = 0x1p-53;

    // The unit of a sum of so many products.
    double sum_unit(std::int64_t terms) const { return unit * static_cast<double>(terms + 4) + product_unit; }
    double smallest() const { return unit == kSingle ? 0x1p-126 : 0x1p-1022; }  // normal number
};

// Each array and number holds the allowed absolute error of that of the exact result.
Forward allowed_error(Problem const& problem, Forward const& exact, Precision const& precision);
// Half an ulp of the type, and of its smallest number if the value is not exactly zero.
double storage_error(cudnn_frontend::DataType_t type, double value);
Backward allowed_error(Problem const& problem, Array const& o, Array const& stats, Array const& d_o,
                       Backward const& exact, Precision const& precision);

}  // namespace oracle
