// The argument of the kernels of neighborhood attention. The library fills it and the kernels read it, so both include
// this file: its types have the same layout for both.
#pragma once

#ifdef __CUDACC_RTC__
#include <neighborhood.h>
#else
#include "core/neighborhood.h"
#endif

namespace cudnn_frontend::kernels {

inline constexpr int kMostAxes = 3;

// In the order in which a launch has those that its kernel takes. Queries and Keys stand for the rows of Q and K, of
// their gradients, or of O and V, whose places are the same.
enum NeighborhoodTensor : int {
    kQueries,
    kKeys,
    kValues,
    kBias,
    kSlots,
    kOutput,
    kStats,
    kOutputGradient,
    kDelta,
    kQueryStatistics,
    kQueryGradient,
    kQuerySums,
    kKeyGradient,
    kValueGradient,
    kBiasGradient,
    kNeighborhoodTensors
};

// Strides count elements. The bias has no batch and no column; its axes are those of space.
struct NeighborhoodAccess {
    void* start;
    long long batch, head, space[kMostAxes], column;
    long long steps[kMostAxes];  // between neighbours in a group of the dilation
};

// How tokens make tiles. A tile has neighbours in their group of the dilation: 2^bits along each axis, kTileTokens in
// all, or kGroupTileTokens. Kernels by tiles pack places in a group into one word: an axis' place is shifted, and
// followed by a guard bit above it, which is free for comparisons of all axes at once.
struct NeighborhoodTiles {
    int bits[kMostAxes];
    int tiles[kMostAxes];  // in the longest group
    int shifts[kMostAxes];
    unsigned guards;   // the guard bits
    unsigned nowhere;  // a place that no group has: beyond the end of the first axis
};

struct NeighborhoodArguments {
    neighborhood::Axis axes[kMostAxes];  // where space has fewer, the first ones have length 1
    long long batches, heads;
    int columns;
    int by_vectors;     // rows may be read in 16 bytes
    float scale;        // of products of queries and keys
    float without_key;  // what slots get that have no key
    NeighborhoodTiles tiles;
    NeighborhoodAccess tensors[kNeighborhoodTensors];
};

// --- Shared memory of the kernels by tiles

inline constexpr int kTileTokens = 64;  // a row of a warp's matrices each
inline constexpr int kTileWarps = 4;
inline constexpr int kTileColumns = 16;  // columns are rounded up to a multiple of it
inline constexpr int kMostTileColumns = 128;
inline constexpr int kRowGap = 8;  // elements between rows, so that neighbouring rows lie in different banks

// How many of those that a tile meets are in shared memory at a time, and twice that with those that are being copied.
constexpr int staged_rows(int columns, bool of_keys) { return of_keys && columns > 64 ? 32 : 64; }

// Two matrices of elements twice, and what is known of rows three times; for gradients of keys the tile's own two too.
constexpr int shared_bytes(int columns, bool of_keys) {
    int const rows = staged_rows(columns, of_keys);
    int const row_bytes = (columns + kRowGap) * 2;
    int const of_row = of_keys ? 40 : 24;  // offsets, place and bias; four offsets and the ends of a window
    return 4 * rows * row_bytes + 3 * rows * of_row + (of_keys ? 4 * rows * 4 + 2 * kTileTokens * row_bytes : 0);
}

// --- Kernels by warpgroups

inline constexpr int kGroupRows = 64;  // of a warpgroup's matrices
inline constexpr int kGroupThreads = 128;
inline constexpr int kGroups = 2, kGroupTileThreads = kGroupThreads * kGroups, kGroupTileTokens = kGroupRows * kGroups;

// Gradients of queries are added up by a warpgroup of its own where there are few columns. Else there are not enough
// registers for one, and those that have keys do it.
constexpr bool has_adders(int columns) { return columns <= 64; }
// One more warpgroup fetches queries.
constexpr int gradient_threads(int columns) {
    return kGroupTileThreads + (has_adders(columns) ? 2 : 1) * kGroupThreads;
}
inline constexpr int kStagedKeys = 128;  // of forward

// What the kernels have in shared memory; matrices begin at multiples of 1024 bytes.
constexpr int group_shared_bytes(int columns, bool of_gradients) {
    constexpr int kAlignment = 1024;
    int const row_bytes = columns * 2;
    int bytes = 0;
    if (of_gradients) {
        // The tile's keys and values, and where these and their gradients are; queries and output gradients with
        // statistics three times, and where the latter are five times; where the next ones are; gradients of scores
        // twice; 11 numbers of each thread that has keys, and one of all; what warpgroups wait for.
        int const of_staged = 3 * (2 * row_bytes + 8) + 5 * 8 + 2 * 8 + 2 * kGroupTileTokens * 2;
        bytes = kGroupTileTokens * (2 * row_bytes + 4 * 8) + kGroupRows * of_staged + kGroupTileThreads * 11 * 4 + 8 +
                (3 + 2 + 2) * 8;
    } else {
        // The tile's queries, where they, their output and Stats are; keys and values twice, where they are three
        // times.
        bytes = kGroupTileTokens * (row_bytes + 3 * 8) + kStagedKeys * (4 * row_bytes + 3 * 2 * 8);
    }
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cudnn_frontend::kernels
