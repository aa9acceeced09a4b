// The dropout generator of the CPU targets: Philox 4x32 with 10 rounds, counted by position. docs/spec.md describes it.
#pragma once

#include "attention/philox_words.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cudnn_frontend::attention {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline constexpr std::uint32_t kPhiloxFactors[] = {kPhiloxFactor0, kPhiloxFactor1};
inline constexpr std::uint32_t kPhiloxKeySteps[] = {kPhiloxKeyStep0, kPhiloxKeyStep1};

inline PhiloxBlock philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
    PhiloxWords const drawn = philox_words(key, counter_low, counter_high);
    return {drawn.words[0], drawn.words[1], drawn.words[2], drawn.words[3]};
}

// The greatest word of the generator that keeps a score. One word keeps it however small the chance is.
inline std::uint32_t last_kept_word(double keep_probability) {
    return static_cast<std::uint32_t>(std::clamp(keep_probability * 0x1p32, 1.0, 0x1p32) - 1.0);
}

// Decides which probabilities of a score tensor are kept. Each group of four columns uses one block: the counter is the
// group's number in the whole tensor and the caller's offset, the key is the seed.
class PhiloxMask {
   public:
    PhiloxMask(std::int64_t seed, std::int64_t offset, double keep_probability, std::int64_t columns)
        : seed_(static_cast<std::uint64_t>(seed)),
          offset_(static_cast<std::uint64_t>(offset)),
          groups_per_row_(static_cast<std::uint64_t>((columns + 3) / 4)),
          last_kept_(last_kept_word(keep_probability)) {}

    // Row numbers run over batch, head and query: (b * heads + h) * queries + i.
    bool keeps(std::int64_t row, std::int64_t column) const {
        PhiloxBlock const block = group(row, column / 4);
        return block[static_cast<std::size_t>(column % 4)] <= last_kept_;
    }
    PhiloxBlock group(std::int64_t row, std::int64_t group_of_row) const {
        return philox(seed_, counter(row, group_of_row), offset_);
    }
    std::uint64_t counter(std::int64_t row, std::int64_t group_of_row) const {
        return static_cast<std::uint64_t>(row) * groups_per_row_ + static_cast<std::uint64_t>(group_of_row);
    }
    std::uint64_t groups_per_row() const { return groups_per_row_; }
    std::uint64_t seed() const { return seed_; }
    std::uint64_t offset() const { return offset_; }
    std::uint32_t last_kept() const { return last_kept_; }

   private:
    std::uint64_t seed_, offset_, groups_per_row_;
    std::uint32_t last_kept_;
};

}  // namespace cudnn_frontend::attention
