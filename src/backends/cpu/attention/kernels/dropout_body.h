// The mask of the dropout generator (attention/philox.h) for one instruction set: included by attention_kernels_body.h.
#pragma once

namespace cudnn_frontend::cpu {
namespace {

// A 32-bit word of the generator in the low half of each element, where a product of two words has room. The halves of
// a product are words of the next round.
typedef std::uint64_t WideWords __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES)));
constexpr std::int64_t kWideWidth = SDPA_GRAPH_VECTOR_BYTES / 8;
constexpr std::int64_t kWideVectors = kLanes / kWideWidth;

// The low halves, as the lanes of a mask have them.
typedef std::uint32_t Words __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES / 2)));
typedef std::uint32_t UnalignedWords __attribute__((vector_size(SDPA_GRAPH_VECTOR_BYTES / 2), aligned(4), may_alias));

#ifdef __AVX512F__
constexpr __mmask8 kAllWideLanes = 0xff;  // for the reason that kAllLanes has
#endif

// Compilers do not find the one instruction for it in operations on vectors.
[[gnu::always_inline]] inline WideWords multiply_words(WideWords words, std::uint32_t factor) {
#if defined(__AVX512F__)
    return (WideWords)_mm512_maskz_mul_epu32(kAllWideLanes, (__m512i)words, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
    return (WideWords)_mm256_mul_epu32((__m256i)words, _mm256_set1_epi64x(factor));
#elif defined(__SSE2__)
    return (WideWords)_mm_mul_epu32((__m128i)words, _mm_set1_epi64x(factor));
#else
    return (words & 0xffffffffu) * factor;
#endif
}

// One block of the generator for each lane. All vectors advance round by round, since each round of one waits for its
// round before.
struct PhiloxLanes {
    WideWords words[4][kWideVectors];

    [[gnu::always_inline]] PhiloxLanes(MaskDraw const& draw, std::uint64_t first) {
        for (std::int64_t i = 0; i < kWideVectors; ++i) {
            WideWords lanes = {};
            for (std::int64_t lane = 0; lane < kWideWidth; ++lane)
                lanes[lane] = static_cast<std::uint64_t>(i * kWideWidth + lane);
            words[0][i] = first + lanes * draw.lane_step;
            words[1][i] = words[0][i] >> 32;
            words[2][i] = WideWords{} + draw.offset;
            words[3][i] = WideWords{} + (draw.offset >> 32);
        }
    }

    [[gnu::always_inline]] void advance(std::uint32_t key, std::uint32_t next_key) {
        WideWords const keys = WideWords{} + key, next_keys = WideWords{} + next_key;
#pragma GCC unroll 4
        for (std::int64_t i = 0; i < kWideVectors; ++i) {
            WideWords const a = multiply_words(words[0][i], attention::kPhiloxFactors[0]);
            WideWords const b = multiply_words(words[2][i], attention::kPhiloxFactors[1]);
            words[0][i] = (b >> 32) ^ words[1][i] ^ keys;
            words[1][i] = b;
            words[2][i] = (a >> 32) ^ words[3][i] ^ next_keys;
            words[3][i] = a;
        }
    }
};

// The mask of four keys, for all lanes.
void draw_group(MaskDraw const& draw, std::uint64_t first, float* mask) {
    PhiloxLanes lanes(draw, first);
    auto key = static_cast<std::uint32_t>(draw.seed), next_key = static_cast<std::uint32_t>(draw.seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < attention::kPhiloxRounds; ++round) {
        lanes.advance(key, next_key);
        key += attention::kPhiloxKeySteps[0];
        next_key += attention::kPhiloxKeySteps[1];
    }
    constexpr std::uint32_t kOne = 0x3f800000;  // the bits of 1.0f
    for (std::int64_t i = 0; i < 4 * kWideVectors; ++i) {
        Words const drawn = __builtin_convertvector(lanes.words[i / kWideVectors][i % kWideVectors], Words);
        *reinterpret_cast<UnalignedWords*>(mask + i * kWideWidth) = (Words)(drawn <= draw.last_kept) & kOne;
    }
}

void draw(MaskDraw const& draw) {
    for (std::int64_t group = 0; group < draw.groups; ++group) {
        draw_group(draw, draw.first + static_cast<std::uint64_t>(group), draw.mask + 4 * group * kLanes);
    }
}

}  // namespace
}  // namespace cudnn_frontend::cpu
