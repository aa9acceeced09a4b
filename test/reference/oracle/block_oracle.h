// Block-scaled attention by its definition, and block scales in memory by a plain enumeration. Knows nothing of the
// library.
#pragma once

#include "reference/oracle/oracle.h"

#include <cstdint>

namespace oracle {

// Each 32 numbers along axis 2 or 3 are divided by the smallest power of two that keeps them in the format's range,
// rounded, and multiplied again.
Array quantized_in_blocks(Array const& x, std::size_t axis, Fp8 format);

// Backward with probabilities quantized so before they are multiplied by dO, and dS before K and Q.
Backward backward_in_blocks(Problem const& problem, Array const& o, Array const& stats, Array const& d_o,
                            Fp8 of_probabilities, Fp8 of_gradients);

// The places of the scales of a matrix of `rows` rows and `blocks` blocks of columns: by (row, block), in the padded
// order.
class TileOrder {
   public:
    TileOrder(std::int64_t rows, std::int64_t blocks);
    std::int64_t padded_rows() const { return rows_; }
    std::int64_t padded_blocks() const { return blocks_; }
    std::int64_t at(std::int64_t row, std::int64_t block) const {
        return places_[static_cast<std::size_t>(row * blocks_ + block)];
    }

   private:
    std::int64_t rows_, blocks_;
    std::vector<std::int64_t> places_;
};

}  // namespace oracle
