#include "kernels/kernel_costs.h"

#include "core/data_type.h"
#include "cuda/device_facts.h"
#include "kernels/attention/attention_graph.h"
#include "kernels/neighborhood/neighborhood_engine.h"
#include "kernels/neighborhood/neighborhood_forms.h"
#include "kernels/neighborhood/neighborhood_tiling.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace cudnn_frontend::kernels {
namespace {

std::optional<PassRates> read_pass(std::string_view text, std::string const& pass) {
    auto const stage = cuda::read_rate(text, pass + "_stage"), width = cuda::read_rate(text, pass + "_width"),
               extra = cuda::read_rate(text, pass + "_extra");
    if (!stage || !width || !extra) return {};
    return PassRates{*stage, *width, *extra};
}

std::optional<NeighborhoodRates> read_form(std::string_view text, NeighborhoodForm form) {
    std::string const engine = engine_name(form);
    auto const forward = read_pass(text, engine + "_forward"), backward = read_pass(text, engine + "_backward");
    if (!forward || !backward) return {};
    return NeighborhoodRates{*forward, *backward};
}

AttentionRates read_attention_rates(std::string_view text) {
    AttentionRates rates;
    for (std::string const& name : names_of_attention_rates()) {
        auto const block = cuda::read_rate(text, "attention_" + name + "_block"),
                   extra = cuda::read_rate(text, "attention_" + name + "_extra");
        if (block && extra) rates[name] = {*block, *extra};
    }
    return rates;
}

// By tokens, where rows do not fit the tiles, the same work takes this many times as long.
constexpr double kByTokens = 13.0;

// Blocks run side by side on all multiprocessors, round by round.
double cost_of_tiles(NeighborhoodKernelProblem const& problem, NeighborhoodForm form, PassRates const& rates,
                     int multiprocessors) {
    double const rounds = std::ceil(static_cast<double>(tile_count(problem, form)) / multiprocessors);
    std::int64_t const columns = form == NeighborhoodForm::Warpgroups ? warpgroup_columns(problem) : problem.columns();
    double const stage = rates.stage + rates.width * static_cast<double>(columns);
    return rounds * (rates.extra + std::ceil(seen_by_tile(problem, form) / kWarpgroupRows)) * stage;
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

std::optional<KernelRates> read_rates(std::string_view text) {
    auto const start = cuda::read_rate(text, "start"), bandwidth = cuda::read_rate(text, "bandwidth");
    if (!start || !bandwidth) return {};
    return KernelRates{*start, *bandwidth, read_form(text, NeighborhoodForm::Tiles),
                       read_form(text, NeighborhoodForm::Warpgroups), read_attention_rates(text)};
}

std::optional<double> neighborhood_cost(NeighborhoodSteps const& steps, KernelRates const& rates, int multiprocessors) {
    NeighborhoodKernelProblem const& problem = steps.steps.front().problem;
    if (!is_fused(problem.work) || !core::is_half(problem.example().type)) return {};
    bool const is_by_warpgroups = steps.form == NeighborhoodForm::Warpgroups;
    auto const& measured = is_by_warpgroups ? rates.warpgroups : rates.tiles;
    if (!measured) return {};
    PassRates const& pass = problem.work == NeighborhoodWork::Forward ? measured->forward : measured->backward;
    auto const tiles = is_by_warpgroups ? NeighborhoodForm::Warpgroups : NeighborhoodForm::Tiles;
    double const times = steps.form == NeighborhoodForm::Tokens ? kByTokens : 1.0;
    return static_cast<double>(steps.steps.size()) * rates.start +
           times * cost_of_tiles(problem, tiles, pass, multiprocessors) + bytes_of_passes(steps) / rates.bandwidth;
}

std::optional<double> KernelCosts::of(nodes::ValidatedGraph const& graph) const {
    return is_neighborhood(graph) ? of_neighborhood(graph) : of_attention(graph);
}

std::optional<double> KernelCosts::of_attention(nodes::ValidatedGraph const& graph) const {
    auto const read = read_attention(graph, device_, AttentionOffer::NextToOthers);
    if (read.is_bad() || !fills(read.value().problem, device_)) return {};
    return attention_cost(read.value().problem, rates_.attention, rates_.start, multiprocessors_);
}

std::optional<double> KernelCosts::of_neighborhood(nodes::ValidatedGraph const& graph) const {
    for (NeighborhoodForm const form : kNeighborhoodForms) {
        auto const steps = neighborhood_steps(graph, form);
        if (steps.is_bad()) return {};
        if (!steps.value().reason_against(device_).empty()) continue;
        return neighborhood_cost(steps.value(), rates_, multiprocessors_);
    }
    return {};
}

std::optional<double> KernelCosts::of(rewrite::Joint const& joint) const {
    return rates_.start + rewrite::bytes_moved(joint) / rates_.bandwidth;
}

}  // namespace cudnn_frontend::kernels
