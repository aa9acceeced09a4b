#include "attention/block_scale.h"

#include "core/floats.h"

#include <algorithm>
#include <limits>

namespace cudnn_frontend::attention {

static std::int64_t parts(std::int64_t whole, std::int64_t part) { return whole / part + (whole % part > 0 ? 1 : 0); }
// The size rounded up to a multiple, or the largest multiple in int64, which is the size of no tensor.
static std::int64_t padded(std::int64_t size, std::int64_t part) {
    return std::min(parts(size, part), std::numeric_limits<std::int64_t>::max() / part) * part;
}

std::uint8_t block_exponent(double magnitude, double largest) {
    return core::double_to_e8m0(magnitude == 0.0 ? 1.0 : magnitude / largest);
}

core::Dims block_dims(core::Dims const& dim, std::size_t axis) {
    core::Dims scales = dim;
    scales[axis] = parts(dim[axis], kScaleBlock);
    return scales;
}

core::Dims padded_block_dims(core::Dims const& dim, std::size_t axis) {
    core::Dims scales = block_dims(dim, axis);
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

}  // namespace cudnn_frontend::attention
