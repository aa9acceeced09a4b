// Sums over the pairs of a head that are at the same distance: the gradient of its relative position bias.
#pragma once

#include "cpu/attention_scratch.h"
#include "cpu/neighborhood_tiles.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// All sums of a head belong to one worker, so that they have one order.
class DistanceSums {
   public:
    DistanceSums(NeighborhoodProblem const& problem, Arena& arena);

    void clear();
    void add(float const* tile, std::int64_t lanes, KeyTile const& keys, PairOffsets const& offsets);
    PairOffsets offsets_of(Block const& block, Lanes const& lanes) const;
    void store(std::int64_t h) const;

   private:
    NeighborhoodProblem const& problem_;
    Box distances_;
    double* sums_;
};

}  // namespace cudnn_frontend::cpu
