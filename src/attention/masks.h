// The formulas of masks that several layers need.
#pragma once

#include "core/dims.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace cudnn_frontend::attention {

// The slopes of the ALiBi mask, docs/spec.md section 4: a geometric sequence over the largest power of two of heads,
// and every other term of the next finer one for the rest, so that any number of heads gets distinct slopes.
inline double alibi_slope(std::int64_t head, std::int64_t heads) {
    auto const base = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    auto const step = static_cast<double>(head < base ? 2 * (head + 1) : 2 * (head - base) + 1);
    return std::exp2(-4.0 * step / static_cast<double>(base));
}

// A block mask: a bit for each tile of scores, in bytes along the keys, the least significant bit first; 1 keeps.
inline constexpr std::int64_t kMaskTile = 128;              // queries, and keys, of a tile
inline constexpr std::int64_t kKeysOfByte = 8 * kMaskTile;  // keys of the 8 tiles of a byte

// The third and the fourth dim of a mask, for so many queries and keys.
constexpr std::int64_t mask_tiles(std::int64_t queries) { return (queries - 1) / kMaskTile + 1; }
constexpr std::int64_t mask_bytes(std::int64_t keys) { return (keys - 1) / kKeysOfByte + 1; }

// Whether the key is kept; `byte` holds the bit of the key's tile.
inline bool keeps_key(std::int64_t byte, std::int64_t key) {
    return (byte >> (key % kKeysOfByte / kMaskTile) & 1) != 0;
}

}  // namespace cudnn_frontend::attention
