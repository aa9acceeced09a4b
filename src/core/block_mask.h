// A block mask: a bit for each tile of scores, in bytes along the keys, the least significant bit first; 1 keeps.
#pragma once

#include "core/dims.h"

namespace cudnn_frontend::core {

inline constexpr std::int64_t kMaskTile = 128;              // queries and keys of a tile
inline constexpr std::int64_t kKeysOfByte = 8 * kMaskTile;  // of a byte's tiles

// Of scores {B, Hq, Sq, Skv}.
inline Dims block_mask_dims(Dims const& scores) {
    auto const parts = [](std::int64_t whole, std::int64_t part) { return (whole - 1) / part + 1; };
    return {scores[0], scores[1], parts(scores[2], kMaskTile), parts(scores[3], kKeysOfByte)};
}

// What the byte of a key's tile says of it.
inline bool keeps_key(std::int64_t byte, std::int64_t key) {
    return (byte >> (key % kKeysOfByte / kMaskTile) & 1) != 0;
}

}  // namespace cudnn_frontend::core
