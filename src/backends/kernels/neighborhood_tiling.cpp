#include "kernels/neighborhood_tiling.h"

#include <algorithm>
#include <bit>

namespace cudnn_frontend::kernels {
namespace {

using neighborhood::Axis;
using Bits = std::array<int, kMostAxes>;

constexpr int kTileBits = std::countr_zero(static_cast<unsigned>(kTileTokens));

std::int64_t tiles_along(Axis const& axis, int bits) {
    return (longest_group(axis) + (std::int64_t{1} << bits) - 1) >> bits;
}

// Stages of rows that all tiles go through, and one for what each does before and after.
double cost_of_tiles(SpaceAxes const& axes, Bits const& bits) {
    double tiles = 1, met = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
        std::int64_t const reach = (std::int64_t{1} << bits[axis]) + axes[axis].kernel - 1;
        tiles *= static_cast<double>(tiles_along(axes[axis], bits[axis]) * axes[axis].dilation);
        met *= static_cast<double>(std::min(reach, longest_group(axes[axis])));
    }
    return tiles * (met / kTileTokens + 1);
}

// Of kTileTokens.
Bits cheapest_bits(SpaceAxes const& axes) {
    Bits best{0, 0, kTileBits};
    for (int first = 0; first <= kTileBits; ++first) {
        for (int second = 0; first + second <= kTileBits; ++second) {
            Bits const bits{first, second, kTileBits - first - second};
            if (cost_of_tiles(axes, bits) < cost_of_tiles(axes, best)) best = bits;
        }
    }
    return best;
}

// A warpgroup's matrices have as many rows as a tile has tokens. Where its tile has two of them, the second is the
// first one's neighbour along the first axis that has neighbours: stages that only one of the two meets are left out
// for the other, so that each costs what a tile of its own would.
static_assert(kGroupRows == kTileTokens);
Bits bits_of(NeighborhoodProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    Bits bits = cheapest_bits(axes);
    bool const of_gradients = problem.work == NeighborhoodWork::Gradients;
    bool const has_two = form == NeighborhoodForm::WarpGroups &&
                         group_tile_tokens(group_columns(problem), of_gradients) == 2 * kTileTokens;
    if (!has_two) return bits;
    std::size_t first = 0;
    while (first + 1 < kMostAxes && longest_group(axes[first]) == 1) ++first;
    ++bits[first];
    return bits;
}

// Of a place in a group, and of one past its end.
int place_bits(Axis const& axis) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest_group(axis))));
}

void pack_places(NeighborhoodTiles& tiles, SpaceAxes const& axes) {
    int shift = 0;
    for (std::size_t axis = kMostAxes; axis-- > 0;) {
        int const bits = place_bits(axes[axis]);
        tiles.shifts[axis] = shift;
        tiles.guards |= 1u << (shift + bits);
        tiles.nowhere = ((1u << bits) - 1) << shift;
        shift += bits + 1;
    }
}

}  // namespace

SpaceAxes axes_of(NeighborhoodProblem const& problem) {
    SpaceAxes axes;
    std::ranges::copy_backward(problem.axes, axes.end());
    return axes;
}

std::int64_t longest_group(Axis const& axis) { return (axis.length + axis.dilation - 1) / axis.dilation; }

int group_columns(NeighborhoodProblem const& problem) {
    constexpr int kOfPanel = 64;
    return (static_cast<int>(problem.columns()) + kOfPanel - 1) / kOfPanel * kOfPanel;
}

int packed_bits(SpaceAxes const& axes) {
    int bits = 0;
    for (Axis const& axis : axes) bits += place_bits(axis) + 1;
    return bits;
}

NeighborhoodTiles tiles_of(NeighborhoodProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    NeighborhoodTiles tiles{};
    std::ranges::copy(bits_of(problem, form), tiles.bits);
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
        tiles.tiles[axis] = static_cast<int>(tiles_along(axes[axis], tiles.bits[axis]));
    }
    bool const is_packed = form == NeighborhoodForm::Tiles && packed_bits(axes) <= kPackedBits;
    if (is_packed) pack_places(tiles, axes);
    return tiles;
}

std::int64_t tile_count(NeighborhoodProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    NeighborhoodTiles const tiles = tiles_of(problem, form);
    core::Dims const& dims = problem.example().dims;
    std::int64_t count = dims[0] * dims[1];
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) count *= tiles.tiles[axis] * axes[axis].dilation;
    return count;
}

}  // namespace cudnn_frontend::kernels
