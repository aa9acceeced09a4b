// Graph's queries of its plans.
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "plan/planner.h"

#include <cudnn_frontend/explanation.h>

#include <algorithm>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

using api::guarded_in;
using core::guarded_or;
using plan::EngineInfo;
using plan::Plan;
using plan::Planner;

Planner const* planner_of(Graph::Impl const* impl) { return impl == nullptr ? nullptr : impl->planner.get(); }

Plan const* plan_of(Graph::Impl const* impl) {
    Planner const* const planner = planner_of(impl);
    return planner == nullptr ? nullptr : planner->plan();
}

error_t no_plan(char const* call) {
    return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, call, "build_plans");
}

Result<EngineInfo> candidate(Graph::Impl const* impl, char const* call, std::int64_t index) {
    Planner const* const planner = planner_of(impl);
    if (planner == nullptr) return no_plan(call);
    return planner->candidate(index);
}

Result<Plan const*> built_plan(Graph::Impl const* impl, char const* call, std::int64_t index) {
    Planner const* const planner = planner_of(impl);
    if (planner == nullptr) return no_plan(call);
    return planner->plan_at(index);
}

// Reads a property of the plan that was built.
template <class Read>
error_t ask_plan(Graph::Impl const* impl, char const* call, Read const& read) {
    return guarded_in(impl, [&]() -> error_t {
        Plan const* const plan = plan_of(impl);
        if (plan == nullptr) return no_plan(call);
        read(*plan);
        return {};
    });
}

// Reads a property of a candidate.
template <class Read>
error_t ask_candidate(Graph::Impl const* impl, char const* call, std::int64_t index, Read const& read) {
    return guarded_in(impl, [&] {
        auto info = candidate(impl, call, index);
        if (info.is_good()) read(info.value());
        return info.error();
    });
}

}  // namespace

std::int64_t Graph::get_execution_plan_count() const {
    Planner const* const planner = planner_of(impl_);
    return planner == nullptr ? 0 : planner->candidate_count();
}

error_t Graph::get_plan_name(std::string& name) const {
    return ask_plan(impl_, "get_plan_name", [&](Plan const& plan) { name = plan.info().name; });
}

error_t Graph::get_plan_name_at_index(std::int64_t const index, std::string& name) const {
    return ask_candidate(impl_, "get_plan_name_at_index", index, [&](EngineInfo& info) { name = info.name; });
}

template <class Read>
static error_t ask_candidates(Graph::Impl const* impl, char const* call, Read const& read) {
    return guarded_in(impl, [&]() -> error_t {
        if (planner_of(impl) == nullptr) {
            return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, call, "create_execution_plans");
        }
        Plan_candidates found = impl->filtered()->candidates(impl->settings.filters);
        std::string const difference = impl->difference_from_known();
        if (!difference.empty())
            found.remarks.push_back("built anew, since the nearest known graph differs: " + difference);
        read(std::move(found));
        return {};
    });
}

error_t Graph::print_candidates(std::string& text) const {
    return ask_candidates(impl_, "print_candidates", [&](Plan_candidates const& found) { text = found.to_text(); });
}

error_t Graph::get_candidates(Plan_candidates& candidates) const {
    return ask_candidates(impl_, "get_candidates", [&](Plan_candidates&& found) { candidates = std::move(found); });
}

error_t Graph::get_engine_at_index(std::int64_t const index, std::int64_t& engine,
                                   std::vector<Knob_choice>& knobs) const {
    return guarded_in(impl_, [&]() -> error_t {
        auto const info = candidate(impl_, "get_engine_and_knobs_at_index", index);
        if (info.is_bad()) return info.error();
        auto const number = impl_->planner->number_of(index);
        if (number.is_bad()) return number.error();
        EngineInfo const& found = info.value();
        bool const are_named =
            std::ranges::none_of(found.knobs, [](auto const& k) { return k.first == KnobType_t::NOT_SET; });
        if (!number.value() || !are_named) {
            return {error_code_t::GRAPH_NOT_SUPPORTED,
                    "plan " + std::to_string(index) + ", " + found.name +
                        (number.value() ? ", has a knob that KnobType_t has no name for"
                                        : ", has no engine number for create_execution_plan()") +
                        "; keep the plan itself with serialize()"};
        }
        engine = *number.value();
        for (auto const& [type, value] : found.knobs) knobs.push_back({type, value});
        return {};
    });
}

error_t Graph::get_behavior_notes(std::vector<BehaviorNote_t>& notes) const {
    return ask_plan(impl_, "get_behavior_notes", [&](Plan const& plan) { notes = plan.info().behavior_notes; });
}

error_t Graph::get_behavior_notes_for_plan_at_index(std::int64_t const index,
                                                    std::vector<BehaviorNote_t>& notes) const {
    return ask_candidate(impl_, "get_behavior_notes_for_plan_at_index", index,
                         [&](EngineInfo& info) { notes = std::move(info.behavior_notes); });
}

error_t Graph::get_is_deterministic(bool& is_deterministic) const {
    return ask_plan(impl_, "get_is_deterministic",
                    [&](Plan const& plan) { is_deterministic = plan.info().is_deterministic; });
}

std::int64_t Graph::get_workspace_size() const {
    Plan const* const plan = plan_of(impl_);
    return plan == nullptr ? 0 : plan->workspace_size();
}

error_t Graph::get_workspace_size(std::int64_t& bytes) const {
    return ask_plan(impl_, "get_workspace_size", [&](Plan const& plan) { bytes = plan.workspace_size(); });
}

std::int64_t Graph::get_workspace_size_plan_at_index(std::int64_t const index) const {
    std::int64_t bytes = 0;
    return get_workspace_size_plan_at_index(index, bytes).is_good() ? bytes : 0;
}

error_t Graph::get_workspace_size_plan_at_index(std::int64_t const index, std::int64_t& bytes) const {
    return guarded_in(impl_, [&] {
        auto const plan = built_plan(impl_, "get_workspace_size_plan_at_index", index);
        if (plan.is_good()) bytes = plan.value()->workspace_size();
        return plan.error();
    });
}

std::int64_t Graph::get_autotune_workspace_size() const {
    auto const largest_of = [](std::vector<Plan const*> const& plans) {
        std::int64_t largest = 0;
        for (Plan const* const plan : plans) largest = std::max(largest, plan->workspace_size());
        return largest;
    };
    return guarded_or([](error_t const&) { return std::int64_t{0}; },
                      [&] {
                          Planner const* const planner = planner_of(impl_);
                          return planner == nullptr ? 0 : largest_of(planner->built_plans());
                      });
}

std::vector<std::int64_t> Graph::get_variant_pack_uids_sorted() const {
    return guarded_or([](error_t const&) { return std::vector<std::int64_t>(); },
                      [&] {
                          std::vector<std::int64_t> uids;
                          if (Plan const* const plan = plan_of(impl_)) {
                              for (plan::Slot const& slot : plan->slots()) uids.push_back(slot.uid);
                          }
                          return uids;
                      });
}

}  // namespace cudnn_frontend::graph
