#include "api/graph/known_graphs.h"

#include "core/process/process_settings.h"

#include <functional>
#include <optional>
#include <utility>

namespace cudnn_frontend::api {
namespace {

// Nothing where a backend wants every graph proposed to it anew.
std::optional<Circumstances> circumstances_of(Target const& target, plan::Settings const& settings,
                                              plan::Backends const& backends) {
    Circumstances all{settings.rewrites, settings.slices_for_workspace, {}};
    for (plan::Backend const* const backend : backends) {
        if (!backend->serves(target)) continue;
        auto of_backend = backend->circumstances(target, settings);
        if (!of_backend) return {};
        all.of_backends.emplace_back(backend, std::move(*of_backend));
    }
    return all;
}

}  // namespace

KnownGraphs& KnownGraphs::of_process() {
    static KnownGraphs& graphs = *new KnownGraphs();
    return graphs;
}

Result<Found<plan::CheckedGraph const>> KnownGraphs::check(Description const& described) {
    std::size_t const most = core::process::kept_graphs.get();
    std::size_t const key = most == 0 ? 0 : described.quick_key();
    auto const is_same = [&](plan::CheckedGraph const& kept) { return described.is(kept.described); };
    auto known = most == 0 ? nullptr : checked_.find(key, is_same);
    if (known) return Found<plan::CheckedGraph const>{std::move(known), true};
    nodes::GraphSpec spec = described.copy();
    nodes::Validation validation = nodes::validate(spec);
    if (!validation.graph) return validation.report.to_error();
    auto graph =
        std::make_shared<plan::CheckedGraph const>(plan::CheckedGraph{std::move(spec), std::move(*validation.graph)});
    if (most > 0) checked_.keep(key, graph, most);
    return Found<plan::CheckedGraph const>{std::move(graph), false};
}

Result<Found<plan::Planner>> KnownGraphs::propose(std::shared_ptr<plan::CheckedGraph const> const& graph,
                                                  Target const& target, plan::Settings const& settings,
                                                  plan::Backends const& backends) {
    std::size_t const most = core::process::kept_graphs.get();
    auto circumstances = most == 0 ? std::nullopt : circumstances_of(target, settings, backends);
    std::size_t const key = std::hash<plan::CheckedGraph const*>()(graph.get());
    auto const known = !circumstances ? nullptr : proposed_.find(key, [&](Proposed const& kept) {
        return kept.graph == graph && kept.circumstances == *circumstances;
    });
    if (known) return Found<plan::Planner>{known->planner, true};
    auto proposed = plan::Planner::propose({graph->graph, target, settings}, backends);
    if (proposed.is_bad()) return proposed.error();
    std::shared_ptr<plan::Planner> planner = std::move(proposed).value();
    if (circumstances) {
        Proposed kept{graph, std::move(*circumstances), planner};
        proposed_.keep(key, std::make_shared<Proposed const>(std::move(kept)), most);
    }
    return Found<plan::Planner>{std::move(planner), false};
}

void KnownGraphs::forget(plan::CheckedGraph const& graph) {
    proposed_.forget([&](Proposed const& kept) { return kept.graph.get() == &graph; });
}

void KnownGraphs::keep_at_most(std::size_t most) {
    checked_.keep_at_most(most);
    proposed_.keep_at_most(most);
}

}  // namespace cudnn_frontend::api
