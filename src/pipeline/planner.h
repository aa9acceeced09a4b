// The build stages behind Graph: candidates for a plan, and the plans built from them.
#pragma once

#include "core/result.h"
#include "graph/plan_settings.h"
#include "nodes/schema/validate.h"
#include "pipeline/plan.h"

#include <cudnn_frontend/target.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::pipeline {

using KnobChoices = std::vector<std::pair<KnobType_t, std::int64_t>>;

// What planning starts from.
struct PlanningInput {
    nodes::ValidatedGraph const& graph;
    std::uint64_t graph_id;  // of the user's graph
    Target const& target;
    graph::PlanSettings const& settings;
};

// A graph lowered for a target. Candidates are replaced as a whole; plans are only ever added to them, so that a plan
// stays valid as long as its planner. Building and reading may happen in many threads at once.
class Planner {
   public:
    virtual ~Planner() = default;

    // The same graph with no candidates yet.
    static Result<std::shared_ptr<Planner>> lower(PlanningInput const& input);

    // The same with a candidate for each engine that the heuristics of these modes, at least one, name.
    virtual Result<std::shared_ptr<Planner>> with_candidates(std::vector<HeurMode_t> const& modes) const = 0;
    // The same with one candidate chosen by hand.
    virtual Result<std::shared_ptr<Planner>> with_engine(std::int64_t engine, KnobChoices const& knobs) const = 0;
    // Shares the plans, but chooses its own.
    virtual std::shared_ptr<Planner> copy() const = 0;

    virtual Result<std::int64_t> engine_count() const = 0;
    virtual Result<std::vector<Knob>> knobs_of_engine(std::int64_t engine) const = 0;

    virtual std::int64_t candidate_count() const = 0;
    virtual Result<CandidateInfo> candidate(std::int64_t index) const = 0;

    // Whether any candidate passes the filters.
    virtual error_t check_support(graph::PlanFilters const& filters) const = 0;
    virtual error_t build(BuildPlanPolicy_t policy, bool in_parallel, graph::PlanFilters const& filters) = 0;
    virtual error_t build_at(std::int64_t index) = 0;

    // The plan that execute() runs; null before one is built.
    virtual Plan const* plan() const = 0;
    virtual Result<Plan const*> plan_at(std::int64_t index) const = 0;
    virtual std::vector<Plan const*> built_plans() const = 0;
    virtual void choose(Plan const& plan) = 0;

   protected:
    error_t check_index(std::int64_t index) const;
    static error_t not_built(std::int64_t index);
};

}  // namespace cudnn_frontend::pipeline
