// A block mask in memory.
#pragma once

#include "core/block_mask.h"
#include "cpu/view.h"

namespace cudnn_frontend::cpu {

class BlockMask {
   public:
    BlockMask() = default;
    explicit BlockMask(View const& bytes) : bytes_(bytes) {}

    explicit operator bool() const { return static_cast<bool>(bytes_); }
    // Whether the mask keeps key j visible to query i: the same for all of one tile.
    bool keeps(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        std::int64_t const at = bytes_.at(b, h, i / core::kMaskTile, j / core::kKeysOfByte);
        return core::keeps_key(core::load_integer(bytes_.type, bytes_.data, at), j);
    }

   private:
    View bytes_;
};

}  // namespace cudnn_frontend::cpu
