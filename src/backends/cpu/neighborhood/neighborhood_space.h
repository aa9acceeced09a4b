// The space of neighborhood attention in blocks: boxes of tokens of one dilation group, and which keys are visible to
// which queries.
#pragma once

#include "cpu/attention/kernels/attention_kernels.h"
#include "cpu/neighborhood/neighborhood_attention.h"

#include <array>
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

}  // namespace cudnn_frontend::cpu
