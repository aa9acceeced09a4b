#include "plan/known_plans.h"

#include "nodes/validation/checked_graphs.h"
#include "plan/shape_class.h"

#include <functional>
#include <optional>
#include <utility>

namespace cudnn_frontend::plan {
namespace {

using KnownPlanners = core::process::KeptObjects<PlannerKind>;
using Modes = std::vector<HeurMode_t>;

// Nothing where a backend wants every graph proposed to it anew, and with a group, whose members are no two alike.
std::optional<PlanCircumstances> circumstances_of(Target const& target, Settings const& settings,
                                                  Backends const& backends) {
    if (settings.group) return {};
    PlanCircumstances all{settings.rewrites,
                          shape_policy_of(target, settings),
                          settings.slices_for_workspace,
                          settings.batch_invariant,
                          {},
                          {}};
    if (may_be_for_all_shapes(target, settings)) all.filters = settings.filters;
    for (Backend const* const backend : backends) {
        if (!backend->serves(target)) continue;
        auto of_backend = backend->circumstances(target, settings);
        if (!of_backend) return {};
        all.of_backends.emplace_back(backend, std::move(*of_backend));
    }
    return all;
}

std::size_t hash_of(nodes::ValidatedGraph const* graph) { return std::hash<nodes::ValidatedGraph const*>()(graph); }

// Users' graphs, which have no modes, get the times of the plan store. Those of a program's parts are not asked for.
Result<std::shared_ptr<Planner>> propose(PlanningInput const& input, Backends const& backends, Modes const& modes) {
    auto proposed = Planner::propose(input, backends);
    if (proposed.is_bad()) return proposed;
    if (!modes.empty()) return proposed.value()->with_candidates(modes);
    StoredTimes times = find_times(input, backends);
    bool const has_none = times.candidates.empty() && times.remark.empty();
    return has_none ? proposed : proposed.value()->with_times(std::move(times));
}

std::string difference_of(PlanCircumstances const& wanted, PlanCircumstances const& known) {
    if (!(known.wishes == wanted.wishes)) return "the rewrites that are wanted";
    if (known.slices_for_workspace != wanted.slices_for_workspace) return "slices for less workspace";
    if (known.shape_policy != wanted.shape_policy) return "the shape policy";
    if (known.batch_invariant != wanted.batch_invariant) return "batch invariance";
    if (!(known.filters == wanted.filters)) return "the filters of engines";
    return "the target, its device, or the settings of its backends";
}

using FoundPlanner = core::process::FoundObject<Planner>;

Result<FoundPlanner> find_or_propose(GraphPointer const& graph, Target const& target, Settings const& settings,
                                     Backends const& backends, Modes const& modes) {
    PlanningInput const input{*graph, target, settings};
    auto circumstances = circumstances_of(target, settings, backends);
    if (!circumstances) {
        auto proposed = propose(input, backends, modes);
        if (proposed.is_bad()) return proposed.error();
        return FoundPlanner{std::move(proposed).value(), false};
    }
    std::size_t const hash = hash_of(graph.get());
    auto const fits = [&](PlannerKey const& known) {
        return known.graph == graph && known.modes == modes && known.circumstances == *circumstances;
    };
    if (auto const known = KnownPlanners::of_process().find(hash, fits)) return FoundPlanner{known->planner, true};
    PlannerKey const key{graph, std::move(*circumstances), modes};
    auto const make = [&]() -> Result<std::shared_ptr<KeptPlanner const>> {
        auto proposed = propose(input, backends, modes);
        if (proposed.is_bad()) return proposed.error();
        return std::make_shared<KeptPlanner const>(KeptPlanner{key, std::move(proposed).value()});
    };
    auto const found = KnownPlanners::of_process().find_or_make(hash, key, make);
    if (found.is_bad()) return found.error();
    return FoundPlanner{found.value().object->planner, found.value().is_known};
}

}  // namespace

Result<core::process::FoundObject<Planner>> propose_known(GraphPointer const& graph, Target const& target,
                                                          Settings const& settings, Backends const& backends) {
    return find_or_propose(graph, target, settings, backends, {});
}

Result<std::shared_ptr<Planner>> plan_part(GraphPointer const& graph, Target const& target, Settings const& settings,
                                           Backends const& backends, Modes const& modes) {
    auto found = find_or_propose(graph, target, settings, backends, modes);
    if (found.is_bad()) return found.error();
    return std::move(found.value().object);
}

void forget_plans(nodes::ValidatedGraph const& graph) {
    KnownPlanners::of_process().forget(hash_of(&graph),
                                       [&](KeptPlanner const& kept) { return kept.key.graph.get() == &graph; });
}

void forget_timed_plans(nodes::ValidatedGraph const& graph) {
    std::vector<GraphPointer> known;
    KnownPlanners::of_process().for_each([&](KeptPlanner const& kept) { known.push_back(kept.key.graph); });
    for (GraphPointer const& other : known) {
        if (have_same_times(other->spec(), graph.spec())) forget_plans(*other);
    }
}

// Users know nothing of the attentions of programs, which have modes.
std::string difference_from_nearest(GraphPointer const& graph, Target const& target, Settings const& settings,
                                    Backends const& backends) {
    auto const wanted = circumstances_of(target, settings, backends);
    if (!wanted) return "a backend plans it anew each time";
    std::string circumstance;
    GraphPointer nearest;
    std::size_t least = 0;
    KnownPlanners::of_process().for_each([&](KeptPlanner const& kept) {
        auto const& [known, circumstances, modes] = kept.key;
        if (!modes.empty()) return;
        if (known == graph) {
            if (!(circumstances == *wanted)) circumstance = difference_of(*wanted, circumstances);
            return;
        }
        std::size_t const differing = nodes::differing_parts(graph->spec(), known->spec());
        if (nearest != nullptr && differing >= least) return;
        least = differing;
        nearest = known;
    });
    if (!circumstance.empty() || nearest == nullptr) return circumstance;
    return nodes::difference_text(graph->spec(), nearest->spec());
}

}  // namespace cudnn_frontend::plan
