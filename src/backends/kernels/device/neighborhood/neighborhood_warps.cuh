// Neighborhood attention with a block of four warps for each tile of tokens: which tokens these are, which keys are
// visible to it or which queries see it, and the matrix products of a warp, which has 16 rows of the tile. All those
// keys or queries lie in a box of places. The block goes through the box in stages of some rows, which are copied to
// shared memory while it computes with those before. Some rows of a stage may be visible to only some of the tokens, or
// see only some: packed places say which.
#pragma once

#include <neighborhood/neighborhood_tile.cuh>

constexpr int kTileThreads = 32 * kTileWarps;
constexpr int kRowsOfWarp = kTileTokens / kTileWarps;

constexpr int kTileBlocks = TILE_COLUMNS <= 64 ? 3 : 2;  // on a multiprocessor, at least

inline unsigned packed(NeighborhoodTiles const& tiles, Coordinates const& place) {
    unsigned word = 0;
    for (int axis = 0; axis < kMostAxes; ++axis) word |= static_cast<unsigned>(place.at[axis]) << tiles.shifts[axis];
    return word;
}

// Packed places, both ends included.
struct PlaceRange {
    unsigned first, last;
};
// Whether the place is in the range along every axis: a subtraction that ends below zero borrows its axis' guard.
inline bool has(PlaceRange const& range, unsigned place, unsigned guards) {
    return (((place | guards) - range.first) & ((range.last | guards) - place) & guards) == guards;
}

// The smallest or the largest of two packed places along each axis.
template <bool LARGEST>
inline unsigned extreme(unsigned a, unsigned b, unsigned guards) {
    unsigned const not_smaller = ((a | guards) - b) & guards;  // the axes along which a is not smaller
    unsigned result = 0, low = 1;                              // the first bit of an axis
    for (unsigned left = guards; left != 0; left &= left - 1) {
        unsigned const guard = left & ~(left - 1);
        bool const takes_a = ((not_smaller & guard) != 0) == LARGEST;
        result |= (guard - low) & (takes_a ? a : b);
        low = guard << 1;
    }
    return result;
}
template <bool LARGEST>
inline unsigned extreme_of_lanes(unsigned place, unsigned guards) {
    for (int bits = 16; bits > 0; bits /= 2) {
        place = extreme<LARGEST>(place, from_lane_across(place, bits), guards);
    }
    return place;
}

// --- Matrices

// A staged matrix, or the tile's own.
template <class Element, int COLUMNS>
using TileRow = Element[COLUMNS + kRowGap];

// The same, as a left factor in shared memory.
template <class Element, int COLUMNS>
struct RowsInSharedMemory {
    TileRow<Element, COLUMNS> const* rows;

    MatrixBlock block(int k) const { return load_block(&rows[lane_index() % 16][16 * k + 8 * (lane_index() / 16)]); }
};

// products[i] has the products of the warp's rows with 8 rows of a staged matrix, from 8 * i on.
template <int COLUMNS, int COUNT, class Element, class Rows>
inline void multiply_by_rows(float (&products)[COUNT][4], Rows const& rows, TileRow<Element, COLUMNS> const* staged) {
    int const row = lane_index() % 8 + lane_index() / 16 * 8, column = lane_index() / 8 % 2 * 8;
    for (auto& product : products) {
        for (float& sum : product) sum = 0;
    }
#pragma unroll
    for (int k = 0; k < COLUMNS / 16; ++k) {
        MatrixBlock const block = rows.block(k);
#pragma unroll
        for (int i = 0; i < COUNT; i += 2) {
            MatrixBlock const b = load_block(&staged[8 * i + row][16 * k + column]);
            multiply_add(products[i], block, b.words[0], b.words[1], Element());
            multiply_add(products[i + 1], block, b.words[2], b.words[3], Element());
        }
    }
}

// Sums of rows of a staged matrix, for each of the warp's rows.
template <class Element, int COLUMNS>
struct RowSums {
    float sums[COLUMNS / 8][4] = {};

    void add(MatrixBlock const& weights, TileRow<Element, COLUMNS> const* staged) {
#pragma unroll
        for (int n = 0; n < COLUMNS / 16; ++n) {
            MatrixBlock const b = load_transposed_block(&staged[lane_index() % 16][16 * n + 8 * (lane_index() / 16)]);
            multiply_add(sums[2 * n], weights, b.words[0], b.words[1], Element());
            multiply_add(sums[2 * n + 1], weights, b.words[2], b.words[3], Element());
        }
    }

    void store(NeighborhoodAccess const& tensor, int half, long long offset, int columns, float factor) const {
        store_row<Element>(tensor, offset, columns, sums, half, factor);
    }
};

// Starts copying rows into a staged matrix; null stands for a row of zeros, for which `any` is passed in its place.
template <int ROWS, int COLUMNS, class Element>
inline void stage_rows(TileRow<Element, COLUMNS>* to, Element const* const* rows, void const* any, int columns) {
    constexpr int kPieces = COLUMNS / 8, kRowsAtOnce = kTileThreads / kPieces;
    int const first = static_cast<int>(threadIdx.x) / kPieces, column = static_cast<int>(threadIdx.x) % kPieces * 8;
    if (first >= kRowsAtOnce) return;
#pragma unroll
    for (int i = 0; i < (ROWS + kRowsAtOnce - 1) / kRowsAtOnce; ++i) {
        int const row = first + i * kRowsAtOnce;
        if (ROWS % kRowsAtOnce != 0 && row >= ROWS) break;
        bool const is_there = rows[row] != nullptr && column < columns;
        start_copy_of_16_bytes(&to[row][column], is_there ? rows[row] + column : any, is_there);
    }
}

// --- Keys in stages, for a tile of queries

template <class Element, int COLUMNS>
struct KeyStages {
    static constexpr int kRows = staged_rows(COLUMNS, false);

    struct KeyTable {
        Element const *keys[kRows], *values[kRows];  // null past the last row
        unsigned places[kRows];
        int biases[kRows];
    };

    TileRow<Element, COLUMNS> keys[kRowBuffers][kRows], values[kRowBuffers][kRows];
    KeyTable tables[kTableBuffers];
};

// Whether any of the warp's tokens is visible to any of some staged rows, or sees any, and whether that holds for all
// pairs.
struct StageVisibility {
    bool any = false, all = true;
};

// A lane's two queries, of whose rows it has a part, and the keys that are visible to the warp's queries.
struct QueryRows {
    Coordinates places[2];
    bool is_there[2];
    PlaceRange keys[2], of_any, of_all;

    QueryRows(Tile const& tile, NeighborhoodTiles const& tiles) {
        for (int half = 0; half < 2; ++half) {
            int const row = static_cast<int>(threadIdx.x) / 32 * kRowsOfWarp + lane_index() / 4 + 8 * half;
            places[half] = tile.place_of(row, is_there[half]);
            TokenBox const box = tile.keys_of(places[half]);
            keys[half] = {packed(tiles, box.first), packed(tiles, box.last)};
        }
        PlaceRange const both_any{extreme<false>(keys[0].first, keys[1].first, tiles.guards),
                                  extreme<true>(keys[0].last, keys[1].last, tiles.guards)};
        PlaceRange const both_all{extreme<true>(keys[0].first, keys[1].first, tiles.guards),
                                  extreme<false>(keys[0].last, keys[1].last, tiles.guards)};
        of_any = {extreme_of_lanes<false>(both_any.first, tiles.guards),
                  extreme_of_lanes<true>(both_any.last, tiles.guards)};
        of_all = {extreme_of_lanes<true>(both_all.first, tiles.guards),
                  extreme_of_lanes<false>(both_all.last, tiles.guards)};
    }

    // COUNT is a multiple of 32.
    template <int COUNT>
    StageVisibility visibility(unsigned const* places_of_keys, unsigned guards) const {
        bool any = false, all = true;
        for (int first = 0; first < COUNT; first += 32) {
            unsigned const place = places_of_keys[first + lane_index()];
            any = any || has(of_any, place, guards);
            all = all && has(of_all, place, guards);
        }
        return {ballot(any) != 0, ballot(!all) == 0};
    }
};

// The row of a stage that the thread looks up, in turns; below 0 if it has none.
template <int ROWS>
inline int row_to_look_up(int stage) {
    int const row = static_cast<int>(threadIdx.x + stage * ROWS) % kTileThreads;
    return row < ROWS ? row : -1;
}

// Calls use(stage's keys, its values, its table) for all keys that are visible to the tile's queries.
template <class Element, int COLUMNS, bool WITH_BIAS, class Use>
inline void for_each_key_stage(NeighborhoodArguments const& arguments, Tile const& tile, Use const& use) {
    using Stages = KeyStages<Element, COLUMNS>;
    static_assert(sizeof(Stages) == shared_bytes(COLUMNS, false));
    extern __shared__ __align__(16) unsigned char shared_memory[];
    Stages& shared = *reinterpret_cast<Stages*>(shared_memory);
    TokenBox const box = tile.keys_of(tile.tokens());
    int const count = box.count();
    NeighborhoodAccess const& of_keys = arguments.tensors[NeighborhoodTensor::Keys];
    NeighborhoodAccess const& of_values = arguments.tensors[NeighborhoodTensor::Values];
    Element const* const first_key = static_cast<Element const*>(of_keys.start) + tile.first_offset_of(of_keys);
    Element const* const first_value = static_cast<Element const*>(of_values.start) + tile.first_offset_of(of_values);
    auto const look_up = [&](int stage) {
        int const row = row_to_look_up<Stages::kRows>(stage);
        if (row < 0) return;
        typename Stages::KeyTable& table = shared.tables[stage % kTableBuffers];
        int const number = stage * Stages::kRows + row;
        bool const is_there = number < count;
        Coordinates const place = box[number];
        table.keys[row] = is_there ? first_key + Tile::offset_from_first(of_keys, place) : nullptr;
        table.values[row] = is_there ? first_value + Tile::offset_from_first(of_values, place) : nullptr;
        table.places[row] = is_there ? packed(arguments.tiles, place) : arguments.tiles.nowhere;
        if (WITH_BIAS) table.biases[row] = is_there ? static_cast<int>(tile.bias_of(place)) : 0;
    };
    auto const start_copies = [&](int stage) {
        typename Stages::KeyTable const& table = shared.tables[stage % kTableBuffers];
        stage_rows<Stages::kRows, COLUMNS>(shared.keys[stage % kRowBuffers], table.keys, of_keys.start,
                                           arguments.columns);
        stage_rows<Stages::kRows, COLUMNS>(shared.values[stage % kRowBuffers], table.values, of_values.start,
                                           arguments.columns);
    };
    for_each_stage<Stages::kRows>(count, look_up, start_copies, wait_for_copies, [&](int stage) {
        use(shared.keys[stage % kRowBuffers], shared.values[stage % kRowBuffers], shared.tables[stage % kTableBuffers]);
    });
}
