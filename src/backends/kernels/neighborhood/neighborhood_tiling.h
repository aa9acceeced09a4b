// How the tokens of neighborhood attention make tiles.
#pragma once

#include "kernels/neighborhood/neighborhood_kernel.h"

#include <array>
#include <cstdint>

namespace cudnn_frontend::kernels {

using SpaceAxes = std::array<neighborhood::Axis, kMostAxes>;

// The first axes have length 1 where space has fewer than the kernels.
SpaceAxes axes_of(NeighborhoodKernelProblem const& problem);

// How many positions the largest dilation group has.
std::int64_t longest_dilation_group(neighborhood::Axis const& axis);

// The bits of a word, which must hold a packed place; the bits of a packed place with its guards.
inline constexpr int kPackedBits = 32;
int packed_bits(SpaceAxes const& axes);

// The columns of a problem for warpgroups, rounded up to whole panels of their matrices.
int warpgroup_columns(NeighborhoodKernelProblem const& problem);

// The tiles for kernels by tiles or by warpgroups, of which only the former pack places.
NeighborhoodTiles tiles_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form);

// The number of keys that are visible to the queries of a tile, on average.
double seen_by_tile(NeighborhoodKernelProblem const& problem, NeighborhoodForm form);

// The tiles of all heads; some may be empty.
std::int64_t tile_count(NeighborhoodKernelProblem const& problem, NeighborhoodForm form);

}  // namespace cudnn_frontend::kernels
