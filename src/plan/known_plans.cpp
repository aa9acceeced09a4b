#include "plan/known_plans.h"

#include "core/process/process_settings.h"
#include "plan/shape_class.h"

#include <functional>
#include <optional>
#include <utility>

namespace cudnn_frontend::plan {
namespace {

// Nothing where a backend wants every graph proposed to it anew, and with a group, whose members are no two alike.
std::optional<PlanCircumstances> circumstances_of(Target const& target, Settings const& settings,
                                                  Backends const& backends) {
    if (settings.group) return {};
    PlanCircumstances all{settings.rewrites, settings.slices_for_workspace, wants_class(target, settings), {}};
    for (Backend const* const backend : backends) {
        if (!backend->serves(target)) continue;
        auto of_backend = backend->circumstances(target, settings);
        if (!of_backend) return {};
        all.of_backends.emplace_back(backend, std::move(*of_backend));
    }
    return all;
}

}  // namespace

KnownPlans& KnownPlans::of_process() {
    static KnownPlans& plans = *new KnownPlans();
    return plans;
}

Result<KnownPlans::FoundKnown> KnownPlans::find_or_propose(GraphPointer const& graph, Target const& target,
                                                           Settings const& settings, Backends const& backends) {
    std::size_t const most = core::process::kept_graphs.get();
    auto circumstances = most == 0 ? std::nullopt : circumstances_of(target, settings, backends);
    std::size_t const key = std::hash<nodes::ValidatedGraph const*>()(graph.get());
    auto known = !circumstances ? nullptr : known_.find(key, [&](KnownProposals const& kept) {
        return kept.graph == graph && kept.circumstances == *circumstances;
    });
    if (known) return FoundKnown{std::move(known), true};
    auto proposed = Planner::propose({*graph, target, settings}, backends);
    if (proposed.is_bad()) return proposed.error();
    bool const is_kept = circumstances.has_value();
    auto made = std::make_shared<KnownProposals const>(
        KnownProposals{graph, is_kept ? std::move(*circumstances) : PlanCircumstances{}, std::move(proposed).value()});
    if (is_kept) known_.keep(key, made, most);
    return FoundKnown{std::move(made), false};
}

Result<FoundObject<Planner>> KnownPlans::propose(GraphPointer const& graph, Target const& target,
                                                 Settings const& settings, Backends const& backends) {
    auto const found = find_or_propose(graph, target, settings, backends);
    if (found.is_bad()) return found.error();
    return FoundObject<Planner>{found.value().object->planner, found.value().is_known};
}

Result<std::shared_ptr<Planner>> KnownPlans::plan_part(GraphPointer const& graph, Target const& target,
                                                       Settings const& settings, Backends const& backends,
                                                       std::vector<HeurMode_t> const& modes) {
    std::lock_guard const alone(planning_part_);
    auto const found = find_or_propose(graph, target, settings, backends);
    if (found.is_bad()) return found.error();
    KnownProposals const& known = *found.value().object;
    for (auto const& [asked, planner] : *known.candidates) {
        if (asked == modes) return planner;
    }
    auto planner = known.planner->with_candidates(modes);
    if (planner.is_good()) known.candidates->emplace_back(modes, planner.value());
    return planner;
}

void KnownPlans::forget(nodes::ValidatedGraph const& graph) {
    known_.forget([&](KnownProposals const& kept) { return kept.graph.get() == &graph; });
}

void KnownPlans::keep_at_most(std::size_t most) { known_.keep_at_most(most); }

}  // namespace cudnn_frontend::plan
