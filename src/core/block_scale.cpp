#include "core/block_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudnn_frontend::core {

static constexpr int kBias = 127;

static std::int64_t parts(std::int64_t whole, std::int64_t part) { return whole / part + (whole % part > 0 ? 1 : 0); }
// Rounded up to a multiple; at most the largest multiple in int64, a size that no tensor has.
static std::int64_t padded(std::int64_t size, std::int64_t part) {
    return std::min(parts(size, part), std::numeric_limits<std::int64_t>::max() / part) * part;
}

double e8m0_to_double(std::uint8_t bits) {
    if (bits == kNanExponent) return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(1.0, int{bits} - kBias);
}

std::uint8_t double_to_e8m0(double value) {
    if (std::isnan(value) || value < 0.0) return kNanExponent;
    if (value == 0.0) return 0;
    if (std::isinf(value)) return kNanExponent - 1;
    int exponent = 0;
    bool const is_power = std::frexp(value, &exponent) == 0.5;
    return static_cast<std::uint8_t>(std::clamp(exponent - (is_power ? 1 : 0) + kBias, 0, kNanExponent - 1));
}

std::uint8_t block_exponent(double magnitude, double largest) {
    return magnitude == 0.0 ? kBias : double_to_e8m0(magnitude / largest);
}

Dims block_dims(Dims const& dim, std::size_t axis) {
    Dims scales = dim;
    scales[axis] = parts(dim[axis], kScaleBlock);
    return scales;
}

Dims padded_block_dims(Dims const& dim, std::size_t axis) {
    Dims scales = block_dims(dim, axis);
    for (std::size_t const i : {std::size_t{2}, std::size_t{3}}) {
        scales[i] = padded(scales[i], i == axis ? kTileColumns : kTileRows);
    }
    return scales;
}

// A tile is 32 groups of 16 bytes: rows 32 apart are adjacent in a group, each with its 4 blocks.
std::int64_t index_128x4(std::int64_t row, std::int64_t block, std::int64_t blocks) {
    std::int64_t const tile = row / kTileRows * (blocks / kTileColumns) + block / kTileColumns;
    return tile * kTileRows * kTileColumns + row % 32 * 16 + row % kTileRows / 32 * 4 + block % kTileColumns;
}

}  // namespace cudnn_frontend::core
