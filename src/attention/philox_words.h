// Philox 4x32 with 10 rounds, the generator of dropout: docs/spec.md. This is C++ and CUDA C++ alike.
#pragma once

namespace cudnn_frontend::attention {

inline constexpr int kPhiloxRounds = 10;
inline constexpr unsigned kPhiloxFactor0 = 0xD2511F53u, kPhiloxFactor1 = 0xCD9E8D57u;
inline constexpr unsigned kPhiloxKeyStep0 = 0x9E3779B9u, kPhiloxKeyStep1 = 0xBB67AE85u;

struct PhiloxWords {
    unsigned words[4];
};

// The words of a counter.
inline PhiloxWords philox_words(unsigned long long key, unsigned long long counter_low,
                                unsigned long long counter_high) {
    PhiloxWords x = {{static_cast<unsigned>(counter_low), static_cast<unsigned>(counter_low >> 32),
                      static_cast<unsigned>(counter_high), static_cast<unsigned>(counter_high >> 32)}};
    unsigned k0 = static_cast<unsigned>(key), k1 = static_cast<unsigned>(key >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
        unsigned long long const a = static_cast<unsigned long long>(kPhiloxFactor0) * x.words[0];
        unsigned long long const b = static_cast<unsigned long long>(kPhiloxFactor1) * x.words[2];
        x = {{static_cast<unsigned>(b >> 32) ^ x.words[1] ^ k0, static_cast<unsigned>(b),
              static_cast<unsigned>(a >> 32) ^ x.words[3] ^ k1, static_cast<unsigned>(a)}};
        k0 += kPhiloxKeyStep0;
        k1 += kPhiloxKeyStep1;
    }
    return x;
}

}  // namespace cudnn_frontend::attention
