// Graph::explain(): what check(), advice() and build() know, in one value.
#include "api/backends.h"
#include "api/graph/capsule.h"
#include "api/graph/graph_impl.h"
#include "api/graph/search.h"
#include "core/guard.h"
#include "core/process/plan_store.h"
#include "plan/planner.h"
#include "plan/programs/backend_costs.h"
#include "plan/storage/nearest_entry.h"

#include <cudnn_frontend/explanation.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

using plan::PlanningInput;

std::string name_of(Target const& target) {
    switch (target.kind()) {
        case Target::Kind::CPU: return "cpu";
        case Target::Kind::REFERENCE: return "reference";
        case Target::Kind::CUDA: return "cuda";
        case Target::Kind::STREAM: return "a stream";
        case Target::Kind::OFFLINE: break;
    }
    if (target.device() == nullptr) return "a GPU that is not described";
    std::string const& described = target.device()->to_json();
    for (std::string const& name : DeviceProperties::names()) {
        if (DeviceProperties::named(name).to_json() == described) return name;
    }
    return target.device()->describe();
}

Report limits_of(PlanningInput const& input) {
    if (input.settings.batch_invariant) return {};  // limits are of all engines, and refusals say more of these
    std::vector<Finding> all;
    for (plan::Backend const* const backend : api::backends()) {
        if (!backend->serves(input.target) || !backend->takes(input.graph)) continue;
        // Findings without a rule are in the refusals, too.
        for (Finding const& finding : backend->limits(input).findings()) {
            if (!finding.where.rule.empty()) all.push_back(finding);
        }
    }
    return Report(std::move(all));
}

// The candidates of a graph that no backend plans: the refusals of all backends.
Plan_candidates refusals_of(PlanningInput const& input, error_t const& refusal) {
    Plan_candidates all;
    plan::Planner::Answers answers = plan::Planner::ask(input, api::backends());
    for (auto const& [backend, proposal] : answers.proposals) answers.refusals.push_back({backend, refusal});
    for (plan::Planner::Refusal const& each : answers.refusals) all.candidates.push_back(plan::described(each));
    return all;
}

// By the figures of this backend alone.
std::optional<double> expected_by(std::string const& name, PlanningInput const& input) {
    plan::Backends backends = api::backends();
    std::erase_if(backends, [&](plan::Backend const* backend) { return backend->name() != name; });
    return plan::BackendCosts(input.target, input.settings, backends).of(input.graph);
}

// The expected time of each program, and of the engine that each backend names first. A backend's figures are for that
// one.
void add_estimates(Plan_candidates& all, plan::Planner const& planner, PlanningInput const& input) {
    plan::BackendCosts const costs(input.target, input.settings, api::backends());
    std::set<std::string> with_figures;
    for (std::int64_t i = 0; i < planner.candidate_count(); ++i) {
        auto const info = planner.candidate(i);
        if (info.is_bad()) continue;
        Plan_candidate& candidate = all.candidates[static_cast<std::size_t>(i)];
        std::optional<double> time;
        if (info.value().program != nullptr) time = rewrite::cost_of(*info.value().program, costs);
        else if (with_figures.insert(candidate.backend).second) time = expected_by(candidate.backend, input);
        candidate.estimated_us = time.value_or(0.0);
    }
}

// Adds, for each candidate that had to be compiled, where the nearest entry of the plan store differs.
void add_differences(Plan_candidates& all, plan::Planner const& planner) {
    auto const store = core::process::plan_store();
    for (std::int64_t i = 0; i < planner.candidate_count() && !store.folder.empty(); ++i) {
        auto const miss = planner.store_miss(i);
        if (miss.key.empty()) continue;
        std::string const difference = plan::difference_from_nearest(store.folder, miss.key);
        auto& reason = all.candidates[static_cast<std::size_t>(i)].store_miss;
        if (!difference.empty()) reason += "; the nearest entry has " + difference;
    }
}

class Explainer {
   public:
    Explainer(nodes::GraphSpec const& graph, plan::Settings const& settings, Target const& target)
        : graph_(graph), settings_(settings), target_(target) {}

    Explanation explain(std::int64_t search_milliseconds) {
        result_.graph = graph_.name;
        result_.target = name_of(target_);
        nodes::Validation const validation = nodes::validate(graph_);
        result_.findings = validation.report;
        result_.refusal = validation.report.to_error();
        if (validation.graph) plan(*validation.graph);
        if (!result_.has_plan() && search_milliseconds > 0) {
            result_.nearest = api::nearest_graphs({graph_, settings_, target_, result_.target},
                                                  std::chrono::milliseconds(search_milliseconds));
            result_.was_searched = true;
        }
        return std::move(result_);
    }

   private:
    // Builds by the stages, since build() would search the cheapest fix, too.
    error_t build(Graph& graph) const {
        SDPA_GRAPH_TRY(graph.build_operation_graph(target_));
        SDPA_GRAPH_TRY(graph.create_execution_plans(plan::default_modes()));
        return graph.build_plans();
    }

    void plan(nodes::ValidatedGraph const& valid) {
        PlanningInput const input{valid, target_, settings_};
        result_.advice = nodes::advise(valid);
        Graph graph;
        detail::Graph_access::assign(graph, graph_);
        Graph::Impl& parts = *detail::Graph_access::parts(graph);
        parts.settings = settings_;
        api::WithoutCapsules const answers;
        result_.refusal = build(graph);
        if (result_.refusal.is_bad()) result_.limits = limits_of(input);
        if (parts.planner) {
            auto const planner = parts.filtered();
            result_.candidates = planner->candidates(settings_.filters);
            add_estimates(result_.candidates, *planner, input);
            add_differences(result_.candidates, *planner);
        }
        if (result_.candidates.candidates.empty()) result_.candidates = refusals_of(input, result_.refusal);
        if (plan::Plan const* const built = parts.planner ? parts.planner->plan() : nullptr) {
            result_.plan = built->info().name;
            result_.workspace_bytes = built->workspace_size();
        }
    }

    nodes::GraphSpec const& graph_;
    plan::Settings const& settings_;
    Target const& target_;
    Explanation result_;
};

}  // namespace

Explanation Graph::explain(Target const& target, std::int64_t search_milliseconds) const {
    auto const failed = [](error_t const& error) {
        Explanation explanation;
        explanation.refusal = error;
        return explanation;
    };
    return core::guarded_or(failed, [&] {
        nodes::GraphSpec const spec = detail::Graph_access::snapshot(*this).spec;
        plan::Settings const settings = impl_ == nullptr ? plan::Settings() : impl_->settings;
        return Explainer(spec, settings, target).explain(search_milliseconds);
    });
}

}  // namespace cudnn_frontend::graph
