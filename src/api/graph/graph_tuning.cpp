// Graph's choice of a plan by times, which later processes make too.
#include "api/backends.h"
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "core/findings.h"
#include "core/text.h"
#include "plan/known_plans.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace cudnn_frontend::graph {

using core::text;
using plan::MeasuredTimes;
using plan::Plan;

void Graph::Impl::choose_by_times(std::vector<Plan const*> const& plans, std::vector<MeasuredTimes> const& times) {
    plan::TimedCandidates const session = planner->choose_by_times(plans, times);
    bool const compares_plans = session.size() > 1;
    if (!compares_plans || !asked_for) return;
    plan::PlanningInput const input{planned->graph, *asked_for, settings};
    // The proposals that this process keeps have earlier times.
    if (plan::keep_times(input, api::backends(), session)) plan::forget_timed_plans(planned->graph);
}

static error_t wrong_times(std::string const& found, std::string const& expected, std::string const& fix) {
    return core::error_at("choose_plan_by_times()", error_code_t::INVALID_VALUE, found, expected, fix);
}

static error_t check_times(std::int64_t index, std::vector<double> const& microseconds) {
    auto const is_possible = [](double time) { return std::isfinite(time) && time > 0.0; };
    auto const wrong = std::ranges::find_if_not(microseconds, is_possible);
    if (wrong == microseconds.end()) return {};
    return wrong_times(text("a time of ", *wrong, " us of plan ", index), "finite times above 0",
                       "leave out runs without a time");
}

error_t Graph::choose_plan_by_times(std::vector<std::vector<double>> const& microseconds) {
    return api::guarded_in(impl_, [&]() -> error_t {
        bool const is_built = impl_ != nullptr && impl_->planner && impl_->planner->plan() != nullptr;
        if (!is_built)
            return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "choose_plan_by_times", "build_plans");
        plan::Planner const& planner = *impl_->planner;
        if (static_cast<std::int64_t>(microseconds.size()) > planner.candidate_count()) {
            return wrong_times(text("times of ", microseconds.size(), " plans"),
                               text("those of ", planner.candidate_count(), " plans at most"),
                               "list them by the indices of get_plan_name_at_index()");
        }
        std::vector<Plan const*> plans;
        std::vector<MeasuredTimes> times;
        for (std::size_t i = 0; i < microseconds.size(); ++i) {
            if (microseconds[i].empty()) continue;
            auto const index = static_cast<std::int64_t>(i);
            auto const plan = planner.plan_at(index);
            if (plan.is_bad()) return plan.error();
            SDPA_GRAPH_TRY(check_times(index, microseconds[i]));
            plans.push_back(plan.value());
            times.push_back(MeasuredTimes::of(microseconds[i]));
        }
        if (std::ranges::find(plans, planner.plan()) == plans.end()) {
            return wrong_times("no times of " + planner.plan()->info().name + ", the plan that execute() runs",
                               "its times among the others, with which they are compared",
                               "time it too, or choose one that was timed by build_plan_at_index()");
        }
        impl_->choose_by_times(plans, times);
        return {};
    });
}

}  // namespace cudnn_frontend::graph
