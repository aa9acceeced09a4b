// Block scales: one for each 32 numbers along an axis, a power of two in 8 bits, in the order that tensor cores read.
#pragma once

#include "core/dims.h"

#include <cstdint>

namespace cudnn_frontend::core {

inline constexpr std::int64_t kScaleBlock = 32;  // numbers that share a scale
inline constexpr std::int64_t kTileRows = 128;   // of scales; their rows are those of the tensor that is no sum's
inline constexpr std::int64_t kTileColumns = 4;  // blocks beside each other along the axis of the sum
inline constexpr std::uint8_t kNanExponent = 255;

// FP8_E8M0: 2^(bits - 127), and NaN.
double e8m0_to_double(std::uint8_t bits);
// The smallest that is at least the value; the ends of the range outside of it. NaN of NaN and of what is below 0.
std::uint8_t double_to_e8m0(double value);
// The smallest under which numbers up to this magnitude stay in the range of a type; 1 for a magnitude of 0.
std::uint8_t block_exponent(double magnitude, double largest);

// Of a tensor of 4 dims in blocks along the axis, 2 or 3: scales without padding, and with that of the tiles.
Dims block_dims(Dims const& dim, std::size_t axis);
Dims padded_block_dims(Dims const& dim, std::size_t axis);

// Where the scale of a row and a block lies in a matrix of tiles of 128 rows by 4 blocks, so many blocks wide.
std::int64_t index_128x4(std::int64_t row, std::int64_t block, std::int64_t blocks);

}  // namespace cudnn_frontend::core
