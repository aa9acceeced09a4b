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
// kTileTokens in all, or kWarpgroupTileTokens. Kernels by tiles pack places in a dilation group into one word: an axis'
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
inline constexpr int kElementBytes = 2, kFloatBytes = 4, kOffsetBytes = 8;  // an offset, a pointer or a barrier
inline constexpr int kRowGap = 8;  // elements between rows, so that neighboring rows lie in different banks

// Copies go on while others are used: a stage has the buffer at its number modulo their count.
inline constexpr int kRowBuffers = 2;    // of staged matrices
inline constexpr int kTableBuffers = 3;  // of the places of their rows, which are looked up one stage earlier
// The bytes of a row in a table: four offsets and the ends of a window; two offsets, place and bias.
inline constexpr int kQueryTableBytes = 40, kKeyTableBytes = 24;

// The number of keys visible to a tile, or of queries to which it is visible, that shared memory holds at a time. While
// others are copied, it holds twice as many.
constexpr int staged_rows(int columns, bool of_keys) { return of_keys && columns > 64 ? 32 : 64; }

// Buffers of two matrices of elements, and of the table of their rows; for gradients of keys, buffers of two statistics
// of each row, and the tile's own two matrices.
constexpr int shared_bytes(int columns, bool of_keys) {
    int const rows = staged_rows(columns, of_keys);
    int const row_bytes = (columns + kRowGap) * kElementBytes;
    int const of_row = of_keys ? kQueryTableBytes : kKeyTableBytes;
    int const of_keys_alone = 2 * kRowBuffers * rows * kFloatBytes + 2 * kTileTokens * row_bytes;
    return 2 * kRowBuffers * rows * row_bytes + kTableBuffers * rows * of_row + (of_keys ? of_keys_alone : 0);
}

// --- Kernels by warpgroups

inline constexpr int kWarpgroupRows = 64;  // rows of a warpgroup's matrices
inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroups = 2, kWarpgroupTileThreads = kWarpgroupThreads * kWarpgroups,
                     kWarpgroupTileTokens = kWarpgroupRows * kWarpgroups;

// With few columns, a warpgroup of its own adds up gradients of queries. With more, there are not enough registers for
// one, and the warpgroups that have keys do it.
constexpr bool has_adders(int columns) { return columns <= 64; }
// One more warpgroup fetches queries.
constexpr int gradient_threads(int columns) {
    return kWarpgroupTileThreads + (has_adders(columns) ? 2 : 1) * kWarpgroupThreads;
}
inline constexpr int kStagedKeys = 128;  // for forward

// Buffers of the gradients' kernel.
inline constexpr int kQueryBuffers = 3;          // of staged queries, output gradients and statistics
inline constexpr int kStatisticsRowBuffers = 5;  // of the places of statistics
inline constexpr int kScoreGradientBuffers = 2;

// The registers of its threads, which are multiples of 8. All of a block have no more than a multiprocessor has.
inline constexpr int kAdderRegisters = 64;
constexpr int key_registers(int columns) { return has_adders(columns) ? 208 : 232; }
constexpr int fetcher_registers(int columns) { return has_adders(columns) ? 32 : 40; }

inline constexpr int kVisiblePlacesBytes = 11 * 4;  // 11 numbers for each thread that has keys

// The bytes of shared memory of these kernels; matrices begin at multiples of 1024 bytes.
constexpr int warpgroup_shared_bytes(int columns, bool of_gradients) {
    constexpr int kAlignment = 1024;
    int const row_bytes = columns * kElementBytes;
    int bytes = 0;
    if (of_gradients) {
        // The tile's keys and values, and the places of these and of their gradients; buffers of queries and output
        // gradients with statistics, and of the places of the latter; the places of the next ones; buffers of gradients
        // of scores; the visible places of each thread that has keys, and a number for all; the barriers at which
        // warpgroups wait.
        int const of_staged = kQueryBuffers * (2 * row_bytes + 2 * kFloatBytes) +
                              (kStatisticsRowBuffers + 2) * kOffsetBytes +
                              kScoreGradientBuffers * kWarpgroupTileTokens * kElementBytes;
        constexpr int kBarriers = kQueryBuffers + 2 * kScoreGradientBuffers;
        bytes = kWarpgroupTileTokens * (2 * row_bytes + 4 * kOffsetBytes) + kWarpgroupRows * of_staged +
                kWarpgroupTileThreads * kVisiblePlacesBytes + (1 + kBarriers) * kOffsetBytes;
    } else {
        // The tile's queries, and the places of these, of their output and of Stats; buffers of keys and values, and of
        // their places.
        bytes = kWarpgroupTileTokens * (row_bytes + 3 * kOffsetBytes) +
                kStagedKeys * (2 * kRowBuffers * row_bytes + kTableBuffers * 2 * kOffsetBytes);
    }
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace cudnn_frontend::kernels
