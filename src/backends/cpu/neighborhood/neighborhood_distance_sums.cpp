#include "cpu/neighborhood/neighborhood_run.h"

#include "core/data_type.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

namespace {

Box all_distances(NeighborhoodAxes const& axes) {
    return {{}, {2 * axes[0].kernel - 1, 2 * axes[1].kernel - 1, 2 * axes[2].kernel - 1}};
}

}  // namespace

DistanceSums::DistanceSums(NeighborhoodProblem const& problem, Arena& arena)
    : problem_(problem),
      distances_(all_distances(problem.axes)),
      sums_(arena.take<double>(problem[DRelPosBias] ? distances_.count() : 0, 1)) {}

void DistanceSums::clear() { std::fill_n(sums_, distances_.count(), 0.0); }

PairOffsets DistanceSums::offsets_of(TokenBlock const& block, QueryLanes const& lanes) const {
    TokenView packed;
    packed.axes = {distances_.extent(1) * distances_.extent(2), distances_.extent(2), 1};
    return distance_offsets(packed, block, lanes);
}

void DistanceSums::add(float const* tile, std::int64_t lanes, VisibleKeys const& keys, PairOffsets const& offsets) {
    for_each_pair(keys, [&](std::int64_t key, std::int64_t lane) {
        sums_[offsets.of(keys.places[static_cast<std::size_t>(key)], lane)] += double{tile[key * lanes + lane]};
    });
}

void DistanceSums::store(std::int64_t h) const {
    TokenView const& to = problem_[DRelPosBias];
    for (std::int64_t index = 0; index < distances_.count(); ++index) {
        GridPlace const at = distances_.at(index);
        std::int64_t const offset = h * to.head + at[0] * to.axes[0] + at[1] * to.axes[1] + at[2] * to.axes[2];
        core::store(to.type, to.data, offset, sums_[index]);
    }
}

}  // namespace cudnn_frontend::cpu
