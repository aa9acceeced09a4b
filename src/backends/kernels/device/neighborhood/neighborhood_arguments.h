// The argument of the kernels of neighborhood attention. The library fills it and the kernels read it, so both include
// this file: its types have the same layout for both.
#pragma once

#include "attention/neighborhood_windows.h"

namespace cudnn_frontend::kernels {

inline constexpr int kMostAxes = 3;

// The tensors, in the order in which a launch has those that its kernel needs. Queries and Keys stand for the rows of Q
// and K, of their gradients, or of O and V, whose places are the same.
enum NeighborhoodTensor : int {
    Queries,
    Keys,
    Values,
    Bias,
    Slots,
    Output,
    Stats,
    OutputGradient,
    Delta,
    QueryStatistics,
    QueryGradient,
    QuerySums,
    KeyGradient,
    ValueGradient,
    BiasGradient,
    NeighborhoodTensorCount
};

// Strides count elements. The bias has no batch and no column; its axes are those of space.
struct NeighborhoodAccess {
    void* start;
    long long batch, head, space[kMostAxes], column;
    long long steps[kMostAxes];  // between neighbors in a dilation group
};

// How tokens form tiles. The tokens of a tile are neighbors in their dilation group: 2^bits along each axis,
// kTileTokens in all, or kGroupTileTokens. Kernels by tiles pack places in a dilation group into one word: an axis'
// place is shifted, and has a guard bit above it, which is free for comparisons of all axes at once.
struct NeighborhoodTiles {
    int bits[kMostAxes];
    int tiles[kMostAxes];  // in the longest dilation group
    int shifts[kMostAxes];
    unsigned guards;   // the guard bits
    unsigned nowhere;  // a place that no dilation group has: beyond the end of the first axis
};

struct NeighborhoodArguments {
    neighborhood::Axis axes[kMostAxes];  // if space has fewer, the first ones have length 1
    long long batches, heads;
    int columns;
    int by_vectors;     // rows may be read in 16 bytes
    float scale;        // of products of queries and keys
    float without_key;  // the value of slots that have no key
    NeighborhoodTiles tiles;
    NeighborhoodAccess tensors[NeighborhoodTensorCount];
};

// --- Shared memory of the kernels by tiles

inline constexpr int kTileTokens = 64;  // each is a row of a warp's matrices
inline constexpr int kTileWarps = 4;
inline constexpr int kTileColumns = 16;  // columns are rounded up to a multiple of it
inline constexpr int kMostTileColumns = 128;
inline constexpr int kRowGap = 8;  // elements between rows, so that neighboring rows lie in different banks

// The number of keys visible to a tile, or of queries to which it is visible, that shared memory holds at a time. While
// others are copied, it holds twice as many.
constexpr int staged_rows(int columns, bool of_keys) { return of_keys && columns > 64 ? 32 : 64; }

// Two matrices of elements twice, and the table of their rows three times; for gradients of keys two statistics of each
// row twice, and the tile's own two matrices.
constexpr int shared_bytes(int columns, bool of_keys) {
    int const rows = staged_rows(columns, of_keys);
    int const row_bytes = (columns + kRowGap) * 2;
    int const of_row = of_keys ? 40 : 24;  // 40: four offsets and the ends of a window; 24: two offsets, place and bias
    return 4 * rows * row_bytes + 3 * rows * of_row + (of_keys ? 4 * rows * 4 + 2 * kTileTokens * row_bytes : 0);
}

// --- Kernels by warpgroups

inline constexpr int kGroupRows = 64;  // rows of a warpgroup's matrices
inline constexpr int kGroupThreads = 128;
inline constexpr int kGroups = 2, kGroupTileThreads = kGroupThreads * kGroups, kGroupTileTokens = kGroupRows * kGroups;

// With few columns, a warpgroup of its own adds up gradients of queries. With more, there are not enough registers for
// one, and the warpgroups that have keys do it.
constexpr bool has_adders(int columns) { return columns <= 64; }
// One more warpgroup fetches queries.
constexpr int gradient_threads(int columns) {
    return kGroupTileThreads + (has_adders(columns) ? 2 : 1) * kGroupThreads;
}
inline constexpr int kStagedKeys = 128;  // for forward

// The bytes of shared memory of these kernels; matrices begin at multiples of 1024 bytes.
constexpr int group_shared_bytes(int columns, bool of_gradients) {
    constexpr int kAlignment = 1024;
    int const row_bytes = columns * 2;
    int bytes = 0;
    if (of_gradients) {
        // The tile's keys and values, and the places of these and of their gradients; queries and output gradients with
        // statistics three times, and the places of the latter five times; the places of the next ones; gradients of
        // scores twice; 11 numbers of each thread that has keys, and one for all; the barriers at which warpgroups
        // wait.
        int const of_staged = 3 * (2 * row_bytes + 8) + 5 * 8 + 2 * 8 + 2 * kGroupTileTokens * 2;
        bytes = kGroupTileTokens * (2 * row_bytes + 4 * 8) + kGroupRows * of_staged + kGroupTileThreads * 11 * 4 + 8 +
                (3 + 2 + 2) * 8;
    } else {
        // The tile's queries, and the places of these, of their output and of Stats; keys and values twice, and their
        // places three times.
        bytes = kGroupTileTokens * (row_bytes + 3 * 8) + kStagedKeys * (4 * row_bytes + 3 * 2 * 8);
    }
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cudnn_frontend::kernels
