#include "kernels/neighborhood/neighborhood_tiling.h"

#include <algorithm>
#include <bit>

namespace cudnn_frontend::kernels {
namespace {

using neighborhood::Axis;
using Bits = std::array<int, kMostAxes>;

std::int64_t tiles_along(Axis const& axis, int bits) {
    return (longest_dilation_group(axis) + (std::int64_t{1} << bits) - 1) >> bits;
}

// The number of keys that are visible to a tile's queries, on average: fewer for tiles at the ends than for those in
// between, to which equally many are visible.
double seen_along(Axis const& axis, int bits) {
    Axis const dilation_group{
        .length = longest_dilation_group(axis), .kernel = axis.kernel, .is_causal = axis.is_causal};
    std::int64_t const tiles = tiles_along(axis, bits);
    auto const seen_by = [&](std::int64_t tile) {
        std::int64_t const first = tile << bits,
                           end = std::min((tile + 1) << bits, std::int64_t{dilation_group.length});
        auto const of_last = neighborhood::keys_of(dilation_group, end - 1);
        return static_cast<double>(of_last.first + of_last.count - neighborhood::keys_of(dilation_group, first).first);
    };
    if (tiles == 1) return seen_by(0);
    double const count = static_cast<double>(tiles);
    return (seen_by(0) + seen_by(tiles - 1) + (count - 2) * seen_by(tiles / 2)) / count;
}

double seen_by_tile(SpaceAxes const& axes, Bits const& bits) {
    double seen = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) seen *= seen_along(axes[axis], bits[axis]);
    return seen;
}

// Stages of kTileTokens rows that all tiles go through, and one for the work of each before and after.
double cost_of_tiles(SpaceAxes const& axes, Bits const& bits) {
    double tiles = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
        tiles *= static_cast<double>(tiles_along(axes[axis], bits[axis]) * axes[axis].dilation);
    }
    return tiles * (seen_by_tile(axes, bits) / kTileTokens + 1);
}

int tokens_of_tile(NeighborhoodForm form) {
    return form == NeighborhoodForm::Warpgroups ? kWarpgroupTileTokens : kTileTokens;
}

// The cheapest ones.
Bits bits_of(SpaceAxes const& axes, int tokens) {
    int const sum = std::countr_zero(static_cast<unsigned>(tokens));
    Bits best{0, 0, sum};
    for (int first = 0; first <= sum; ++first) {
        for (int second = 0; first + second <= sum; ++second) {
            Bits const bits{first, second, sum - first - second};
            if (cost_of_tiles(axes, bits) < cost_of_tiles(axes, best)) best = bits;
        }
    }
    return best;
}

// The bits of a place in a dilation group, and of one past its end.
int place_bits(Axis const& axis) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest_dilation_group(axis))));
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

SpaceAxes axes_of(NeighborhoodKernelProblem const& problem) {
    SpaceAxes axes;
    std::ranges::copy_backward(problem.axes, axes.end());
    return axes;
}

std::int64_t longest_dilation_group(Axis const& axis) { return (axis.length + axis.dilation - 1) / axis.dilation; }

int warpgroup_columns(NeighborhoodKernelProblem const& problem) {
    constexpr int kOfPanel = 64;
    return (static_cast<int>(problem.columns()) + kOfPanel - 1) / kOfPanel * kOfPanel;
}

int packed_bits(SpaceAxes const& axes) {
    int bits = 0;
    for (Axis const& axis : axes) bits += place_bits(axis) + 1;
    return bits;
}

NeighborhoodTiles tiles_of(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    NeighborhoodTiles tiles{};
    std::ranges::copy(bits_of(axes, tokens_of_tile(form)), tiles.bits);
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
        tiles.tiles[axis] = static_cast<int>(tiles_along(axes[axis], tiles.bits[axis]));
    }
    bool const is_packed = form == NeighborhoodForm::Tiles && packed_bits(axes) <= kPackedBits;
    if (is_packed) pack_places(tiles, axes);
    return tiles;
}

double seen_by_tile(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    return seen_by_tile(axes, bits_of(axes, tokens_of_tile(form)));
}

std::int64_t tile_count(NeighborhoodKernelProblem const& problem, NeighborhoodForm form) {
    SpaceAxes const axes = axes_of(problem);
    NeighborhoodTiles const tiles = tiles_of(problem, form);
    core::Dims const& dims = problem.example().dims;
    std::int64_t count = dims[0] * dims[1];
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) count *= tiles.tiles[axis] * axes[axis].dilation;
    return count;
}

}  // namespace cudnn_frontend::kernels
