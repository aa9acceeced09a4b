// Block scales: one for each 32 numbers along an axis, a power of two in 8 bits, in the order that tensor cores read.
#pragma once

#include "core/dims.h"

#include <cstdint>

namespace cudnn_frontend::attention {

inline constexpr std::int64_t kScaleBlock = 32;  // numbers that share a scale
inline constexpr std::int64_t kTileRows = 128;   // of scales, along the axis that is not summed over
inline constexpr std::int64_t kTileColumns = 4;  // blocks side by side along the axis that is summed over

// The smallest scale that keeps numbers up to this magnitude in the range of a type; 1 for a magnitude of 0.
std::uint8_t block_exponent(double magnitude, double largest);

// The dims of the scales of a tensor of 4 dims in blocks along axis 2 or 3: without padding, and padded to whole tiles.
core::Dims block_dims(core::Dims const& dim, std::size_t axis);
core::Dims padded_block_dims(core::Dims const& dim, std::size_t axis);

// The index of the scale of a row and block in a matrix stored as tiles of 128 rows by 4 blocks and `blocks` wide.
std::int64_t index_128x4(std::int64_t row, std::int64_t block, std::int64_t blocks);

}  // namespace cudnn_frontend::attention
