// The space of neighborhood attention in blocks, which are boxes of tokens of one dilation group, and the tiles of a
// block's work: packed floats of up to kTileKeys keys by the lanes of a panel of queries.
#pragma once

#include "cpu/attention/kernels/attention_kernels.h"
#include "cpu/neighborhood/neighborhood_attention.h"

#include <array>
#include <bit>
#include <cstdint>

namespace cudnn_frontend::cpu {

// A number for each axis. The places of a group's members are counted without the dilation.
using GridPlace = std::array<std::int64_t, 3>;

struct Box {
    GridPlace first{}, end{};

    std::int64_t extent(std::size_t axis) const { return end[axis] - first[axis]; }
    std::int64_t count() const { return extent(0) * extent(1) * extent(2); }
    GridPlace at(std::int64_t index) const;  // in row-major order
};

// Tokens whose distances are multiples of the dilation.
struct DilationGroup {
    NeighborhoodAxes const& axes;
    GridPlace phase;

    std::int64_t position(std::size_t axis, std::int64_t place) const {
        return phase[axis] + place * axes[axis].dilation;
    }
    std::int64_t length(std::size_t axis) const { return neighborhood::dilation_group_length(axes[axis], phase[axis]); }
    // The places, along an axis, of the keys that are visible to a query, and of the queries to which a key is visible.
    std::array<std::int64_t, 2> keys_of(std::size_t axis, std::int64_t query) const;
    std::array<std::int64_t, 2> queries_of(std::size_t axis, std::int64_t key) const;
    // The smallest boxes that hold those of a whole box.
    Box keys_of(Box const& queries) const;
    Box queries_of(Box const& keys) const;
};

// A block of the space: a task of a worker.
struct TokenBlock {
    std::int64_t b, h;
    DilationGroup group;
    Box box;  // empty where the group has fewer blocks than others
};

// All batch entries, heads and groups in blocks of at most this many tokens, of the shape with the fewest visible keys.
class Division {
   public:
    Division(NeighborhoodProblem const& problem, std::int64_t most_tokens);

    std::int64_t blocks() const { return problem_.batches * problem_.heads * blocks_of_head(); }
    std::int64_t blocks_of_head() const;  // of one batch entry, whose blocks follow each other
    TokenBlock block(std::int64_t index) const;
    // The most places that a box visible to a block can have along all axes together.
    std::int64_t greatest_extents() const;

   private:
    NeighborhoodProblem const& problem_;
    GridPlace shape_{1, 1, 1}, counts_{1, 1, 1};
};

// Queries in the lanes of a panel.
struct QueryLanes {
    std::int64_t count = 0;
    std::array<GridPlace, kMaxLanes> places;
    std::array<GridPlace, kMaxLanes> first_keys;
};

// The lanes from the index on: as many queries of the box as there are lanes.
QueryLanes lanes_of(DilationGroup const& group, Box const& queries, std::int64_t index, std::int64_t lanes);

using LaneMask = std::uint32_t;  // a bit for each lane
static_assert(kMaxLanes <= 32);

// Which keys of a box are visible to which lanes.
class Visibility {
   public:
    // The memory has room for the box's extents, one after the other.
    Visibility(DilationGroup const& group, QueryLanes const& lanes, Box const& keys, LaneMask* memory);

    LaneMask lanes_that_see(GridPlace const& key) const {
        return seen_[0][key[0] - first_[0]] & seen_[1][key[1] - first_[1]] & seen_[2][key[2] - first_[2]];
    }

   private:
    GridPlace first_;
    std::array<LaneMask*, 3> seen_;  // along each axis, by place from the first one on
};

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
