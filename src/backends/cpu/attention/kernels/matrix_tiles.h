// The instructions of AMX: eight tiles of 16 rows of 64 bytes. With SDPA_GRAPH_PLAIN_TILES the same in plain C++, by
// which tests run the kernels on machines without AMX.
//
// The compiler's own functions do not say that they read and write memory, so that stores may move past them.
#pragma once

#include <cstdint>

namespace cudnn_frontend::cpu {
namespace {
namespace tiles {

constexpr int kTiles = 8, kTileRows = 16, kRowBytes = 64;
constexpr std::int64_t kRowPairs = kRowBytes / 4;

#ifdef SDPA_GRAPH_PLAIN_TILES

struct PlainTiles {
    bool are_configured = false;
    std::uint32_t bits[kTiles][kTileRows][kRowPairs] = {};
};
thread_local PlainTiles plain;

// Stops a program that has not configured its tiles, as the processor does.
inline std::uint32_t (&tile_at(int index))[kTileRows][kRowPairs] {
    if (!plain.are_configured) __builtin_trap();
    return plain.bits[index];
}

inline void configure() {
    plain = {};
    plain.are_configured = true;
}
inline void release() { plain = {}; }

template <int kTile>
void clear() {
    for (auto& row : tile_at(kTile)) {
        for (std::uint32_t& element : row) element = 0;
    }
}
template <int kTile>
void load(void const* from, std::int64_t stride) {
    auto& tile = tile_at(kTile);
    for (int row = 0; row < kTileRows; ++row)
        __builtin_memcpy(tile[row], static_cast<char const*>(from) + row * stride, kRowBytes);
}
template <int kTile>
void store(void* to, std::int64_t stride) {
    auto& tile = tile_at(kTile);
    for (int row = 0; row < kTileRows; ++row)
        __builtin_memcpy(static_cast<char*>(to) + row * stride, tile[row], kRowBytes);
}
template <int kSum, int kA, int kB>
void multiply() {
    auto &sums = tile_at(kSum), &a = tile_at(kA), &b = tile_at(kB);
    auto const low = [](std::uint32_t pair) { return __builtin_bit_cast(float, pair << 16); };
    auto const high = [](std::uint32_t pair) { return __builtin_bit_cast(float, pair & 0xffff0000); };
    for (int row = 0; row < kTileRows; ++row) {
        for (int pair = 0; pair < kRowPairs; ++pair) {
            float const first = low(a[row][pair]), second = high(a[row][pair]);
            for (int column = 0; column < kRowPairs; ++column) {
                float const sum = __builtin_bit_cast(float, sums[row][column]);
                float const all = sum + first * low(b[pair][column]) + second * high(b[pair][column]);
                sums[row][column] = __builtin_bit_cast(std::uint32_t, all);
            }
        }
    }
}

#else

struct Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {kRowBytes, kRowBytes, kRowBytes, kRowBytes,
                                   kRowBytes, kRowBytes, kRowBytes, kRowBytes};
    std::uint8_t rows[16] = {kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows, kTileRows};
};
static_assert(sizeof(Configuration) == 64);

[[gnu::always_inline]] inline void configure() {
    alignas(64) static constexpr Configuration kConfiguration;
    asm volatile("ldtilecfg %0" : : "m"(kConfiguration) : "memory");
}
[[gnu::always_inline]] inline void release() { asm volatile("tilerelease" : : : "memory"); }

template <int kTile>
[[gnu::always_inline]] inline void clear() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
[[gnu::always_inline]] inline void load(void const* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
[[gnu::always_inline]] inline void store(void* to, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}
// The tile kSum += a b, where a's rows are pairs along the depth, and each row of b has the pairs of one depth.
template <int kSum, int kA, int kB>
[[gnu::always_inline]] inline void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
}

#endif

}  // namespace tiles
}  // namespace
}  // namespace cudnn_frontend::cpu
