// Dropout by the library's generator, Philox 4x32 with 10 rounds: docs/spec.md says which of its words decides on a
// score. A call of the generator gives the words of a group, four neighboring keys of a query.
#pragma once

#include <attention/attention_arguments.h>
#include <warp.cuh>
#include "attention/philox_words.h"

using namespace cudnn_frontend::kernels;
namespace attention = cudnn_frontend::attention;

struct PhiloxBlock {
    unsigned words[4];
};

inline unsigned low_half(unsigned long long x) { return static_cast<unsigned>(x); }
inline unsigned high_half(unsigned long long x) { return static_cast<unsigned>(x >> 32); }

// Counters become words, with one key for all.
template <int COUNT>
inline void philox(PhiloxBlock (&blocks)[COUNT], unsigned long long key) {
    unsigned k0 = low_half(key), k1 = high_half(key);
#pragma unroll
    for (int round = 0; round < attention::kPhiloxRounds; ++round) {
#pragma unroll
        for (PhiloxBlock& block : blocks) {
            unsigned(&x)[4] = block.words;
            unsigned long long const a = static_cast<unsigned long long>(attention::kPhiloxFactor0) * x[0];
            unsigned long long const b = static_cast<unsigned long long>(attention::kPhiloxFactor1) * x[2];
            block = {high_half(b) ^ x[1] ^ k0, low_half(b), high_half(a) ^ x[3] ^ k1, low_half(a)};
        }
        k0 += attention::kPhiloxKeyStep0;
        k1 += attention::kPhiloxKeyStep1;
    }
}

inline unsigned long long value_of(GivenInteger const& integer) {
    if (integer.start == nullptr) return static_cast<unsigned long long>(integer.number);
    long long const number =
        integer.is_wide ? *static_cast<long long const*>(integer.start) : *static_cast<int const*>(integer.start);
    return static_cast<unsigned long long>(number);
}

// Calls of the generator whose instructions overlap. Kernels have these in a loop: a compiler moves what is in none to
// before products that are to go on meanwhile.
inline constexpr int kDrawsAtOnce = 4;

class Generator {
   public:
    Generator(Dropout const& dropout, Sequences const& all)
        : seed_(value_of(dropout.seed)),
          offset_(value_of(dropout.offset)),
          last_kept_(dropout.last_kept),
          heads_(all.heads),
          queries_(all.query_rows),
          groups_of_row_((all.key_rows + 3) / 4) {}

    int groups_of_row() const { return groups_of_row_; }
    // The number of a query's first group.
    unsigned long long first_group(int batch, int head, int query) const {
        long long const row = (static_cast<long long>(batch) * heads_ + head) * queries_ + query;
        return static_cast<unsigned long long>(row) * static_cast<unsigned>(groups_of_row_);
    }
    // The words of groups that are so far from each other.
    template <int COUNT>
    void draw(PhiloxBlock (&blocks)[COUNT], unsigned long long group, unsigned step) const {
#pragma unroll
        for (PhiloxBlock& block : blocks) {
            block = {low_half(group), high_half(group), low_half(offset_), high_half(offset_)};
            group += step;
        }
        philox(blocks, seed_);
    }
    // 1 where the score of the word is kept, else 0.
    unsigned keeps(unsigned word) const { return word <= last_kept_ ? 1 : 0; }

   private:
    unsigned long long seed_, offset_;
    unsigned last_kept_;
    int heads_, queries_, groups_of_row_;
};
