// Copies between the tensors of neighborhood attention and tiles: packed floats of up to kTileKeys keys by the lanes of
// a panel of queries.
#pragma once

#include "cpu/neighborhood/neighborhood_space.h"

#include <array>
#include <bit>
#include <cstdint>

namespace cudnn_frontend::cpu {

// Some of a box's tokens, in its order.
struct Tokens {
    TokenBlock const& block;
    Box const& box;
    std::int64_t begin, count;
};

// The tokens from the index on, as many as there are rows in a tile.
Tokens tile_of(TokenBlock const& block, Box const& keys, std::int64_t index);

// The packed side has a row for each token. Elements up to the stride are set to 0.
void load_rows(TokenView const& view, Tokens const& tokens, std::int64_t width, float* rows, std::int64_t stride);
void store_rows(float* rows, std::int64_t stride, TokenView const& view, Tokens const& tokens, std::int64_t width);

// Copies rows of 16-bit numbers that follow each other in memory.
void gather_rows(TokenView const& view, Tokens const& tokens, std::int64_t width, std::uint16_t* rows);

// The packed side has a column for each token.
void load_columns(TokenView const& view, Tokens const& tokens, std::int64_t width, float* columns, std::int64_t stride);
void store_columns(float* columns, std::int64_t stride, TokenView const& view, Tokens const& tokens,
                   std::int64_t width);

// The keys of a tile, and the lanes to which each is visible.
struct VisibleKeys {
    std::int64_t count;
    bool is_seen;  // any of them is visible to any lane
    std::array<GridPlace, kTileKeys> places;
    std::array<LaneMask, kTileKeys> seen_by;
};

VisibleKeys key_tile(Tokens const& keys, Visibility const& visibility);

template <class Visit>
void for_each_pair(VisibleKeys const& keys, Visit visit) {
    for (std::int64_t key = 0; key < keys.count; ++key) {
        LaneMask lanes = keys.seen_by[static_cast<std::size_t>(key)];
        for (; lanes != 0; lanes &= lanes - 1) visit(key, std::countr_zero(lanes));
    }
}

// Sets the elements of all pairs whose key is not visible to the query.
void fill_unseen(VisibleKeys const& keys, std::int64_t lanes, float value, float* tile);

// The places of the pairs' elements in a tensor.
struct PairOffsets {
    GridPlace step{};  // of the key's place
    std::array<std::int64_t, kMaxLanes> origin{};

    std::int64_t of(GridPlace const& key, std::int64_t lane) const {
        return key[0] * step[0] + key[1] * step[1] + key[2] * step[2] + origin[static_cast<std::size_t>(lane)];
    }
};

// The offsets in a tensor with a row of slots for each query, and in one with an element for each distance.
PairOffsets slot_offsets(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes);
PairOffsets distance_offsets(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes);

void load_pairs(TokenView const& view, PairOffsets const& offsets, VisibleKeys const& keys, std::int64_t lanes,
                float* tile);
void add_pairs(TokenView const& view, PairOffsets const& offsets, VisibleKeys const& keys, std::int64_t lanes,
               float* tile);
void store_pairs(float const* tile, std::int64_t lanes, TokenView const& view, PairOffsets const& offsets,
                 VisibleKeys const& keys);

// Sets the slots of each query that have no key: those from its number of visible keys on. Only causal axes leave such
// slots.
void fill_empty_slots(TokenView const& view, TokenBlock const& block, QueryLanes const& lanes, float value);

}  // namespace cudnn_frontend::cpu
