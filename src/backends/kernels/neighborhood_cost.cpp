#include "kernels/neighborhood_cost.h"

#include "core/data_type.h"
#include "kernels/neighborhood_forms.h"
#include "kernels/neighborhood_tiling.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::kernels {
namespace {

// By tokens, where rows do not fit the tiles, the same work takes this many times as long.
constexpr double kByTokens = 13.0;

// Blocks run side by side on all multiprocessors, round by round.
double cost_of_tiles(NeighborhoodProblem const& problem, NeighborhoodForm form, PassRates const& rates,
                     int multiprocessors) {
    double const rounds = std::ceil(static_cast<double>(tile_count(problem, form)) / multiprocessors);
    std::int64_t const columns = form == NeighborhoodForm::WarpGroups ? group_columns(problem) : problem.columns();
    double const stage = rates.stage + rates.width * static_cast<double>(columns);
    return rounds * (rates.extra + std::ceil(seen_by_tile(problem, form) / kGroupRows)) * stage;
}

// The bytes that passes over rows read and write, in addition to the tiles.
double bytes_of_passes(NeighborhoodSteps const& steps) {
    double bytes = 0.0;
    for (NeighborhoodStep const& step : steps.steps) {
        if (!is_of_rows(step.problem.work)) continue;
        for (auto const& operand : step.problem.operands) {
            if (operand) bytes += static_cast<double>(*core::volume(operand->dims) * core::size_of(operand->type));
        }
    }
    return bytes;
}

}  // namespace

std::optional<double> neighborhood_cost(NeighborhoodSteps const& steps, Rates const& rates, int multiprocessors) {
    NeighborhoodProblem const& problem = steps.steps.front().problem;
    if (!is_fused(problem.work) || !core::is_half(problem.example().type)) return {};
    bool const is_by_groups = steps.form == NeighborhoodForm::WarpGroups;
    auto const& measured = is_by_groups ? rates.warpgroups : rates.tiles;
    if (!measured) return {};
    PassRates const& pass = problem.work == NeighborhoodWork::Forward ? measured->forward : measured->backward;
    auto const tiles = is_by_groups ? NeighborhoodForm::WarpGroups : NeighborhoodForm::Tiles;
    double const times = steps.form == NeighborhoodForm::Tokens ? kByTokens : 1.0;
    return static_cast<double>(steps.steps.size()) * rates.start +
           times * cost_of_tiles(problem, tiles, pass, multiprocessors) + bytes_of_passes(steps) / rates.bandwidth;
}

}  // namespace cudnn_frontend::kernels
