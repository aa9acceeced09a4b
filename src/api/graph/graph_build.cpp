// The stages of Graph from check to a plan.
#include "api/attributes/tensor_access.h"
#include "api/backends.h"
#include "api/graph/capsule.h"
#include "api/graph/description.h"
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "api/graph/search.h"
#include "api/graph/wanted_graphs.h"
#include "core/guard.h"
#include "core/process/logging.h"
#include "core/process/process_settings.h"
#include "nodes/validation/validate.h"
#include "plan/known_plans.h"
#include "plan/shape_plans.h"

#include <cudnn_frontend/logging.h>

#include <chrono>
#include <string>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

using api::Description;
using api::guarded_in;
using api::missing_stage;
using core::guarded;
using core::guarded_or;
using nodes::CheckedGraphs;
using plan::Plan;
using plan::Planner;

// Logs a line for a stage of a graph: its name, time and result.
class StageLog {
   public:
    // The graph is null where it has no parts.
    StageLog(char const* stage, Graph::Impl const* graph) : stage_(stage), graph_(graph) {
        if (is_on_) begin_ = StageClock::now();
    }

    // Details: further text for the log if the stage succeeded.
    template <class Details>
    void result(error_t const& error, Details const& details) const {
        // If memory runs out, there is no line.
        if (is_on_) static_cast<void>(core::guarded([&] { return write(error, details); }));
    }

   private:
    template <class Details>
    [[gnu::cold]] error_t write(error_t const& error, Details const& details) const {
        auto const time = std::chrono::duration_cast<std::chrono::microseconds>(StageClock::now() - begin_);
        std::string const name = graph_ == nullptr ? "" : graph_->name;
        std::string text = stage_ + (" of graph '" + name) + "', " + std::to_string(time.count()) + " us: ";
        text += error.is_bad() ? to_string(error.code) + (": " + error.err_msg) : "OK" + details();
        core::log_line(text);
        return {};
    }

    using StageClock = std::chrono::steady_clock;

    bool is_on_ = isLoggingEnabled();
    char const* stage_;
    Graph::Impl const* graph_;
    StageClock::time_point begin_;
};

// A graph that did not change since it was last checked is not even looked up.
Result<CheckedGraphs::Found> check(Graph::Impl const& graph, Description const& described) {
    bool const is_unchanged = graph.checked && described.is(graph.checked->described);
    if (is_unchanged) return CheckedGraphs::Found{graph.checked, true};
    auto const fits = [&](nodes::GraphSpec const& known) { return described.is(known); };
    if (auto known = CheckedGraphs::of_process().find(described.hash(), fits)) {
        return CheckedGraphs::Found{std::move(known), true};
    }
    return nodes::check(described.copy());
}

// On success also fills inferred values into the user's tensors.
Result<CheckedGraphs::Found> check_and_fill(Graph::Impl& graph) {
    std::lock_guard const lock(*graph.tensors_mutex);
    Description const described(graph);
    auto checked = check(graph, described);
    if (checked.is_bad()) return checked;
    graph.checked = checked.value().object;
    auto const& inferred = graph.checked->graph.spec().tensors;
    for (std::size_t i = 0; i < inferred.size(); ++i) {
        detail::Tensor_access::fill_inferred(*described.tensors()[i], inferred[i]);
    }
    return checked;
}

// Remarks for the log.
std::string remark_on(bool is_known) { return is_known ? ", known" : ""; }
std::string remark_on(Graph::Impl const& built) {
    std::string const difference = built.difference_from_known();
    return difference.empty() ? remark_on(built.is_known)
                              : ", new, since the nearest known graph differs: " + difference;
}

error_t no_operation_graph(char const* call) {
    return missing_stage(error_code_t::HEURISTIC_QUERY_FAILED, call, "build_operation_graph");
}

error_t no_candidates(char const* call) {
    return missing_stage(error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, call,
                         "create_execution_plans with at least one heuristic mode");
}

error_t nothing_to_build() {
    return {error_code_t::ATTRIBUTE_NOT_SET,
            "the graph has no node, so there is nothing to plan; call sdpa() or another call that adds one"};
}

// The plan that was built, for the log.
std::string plan_text(Graph const& graph) {
    std::string name;
    std::int64_t bytes = 0;
    if (graph.get_plan_name(name).is_bad() || graph.get_workspace_size(bytes).is_bad()) return {};
    return ", " + name + ", workspace of " + std::to_string(bytes) + " bytes";
}

// A line for each remark. A remark for which memory is lacking is left out.
[[gnu::cold]] void log_advice(nodes::ValidatedGraph const& graph) {
    static_cast<void>(guarded([&]() -> error_t {
        for (Remark const& remark : nodes::advise(graph).remarks()) {
            std::string text = Advice({remark}).to_text();
            text.pop_back();  // the end of the line
            core::log_line("advice for graph '" + graph.spec().name + "': " + text);
        }
        return {};
    }));
}

bool has_planner(Graph::Impl const* impl) { return impl != nullptr && impl->planner != nullptr; }

bool has_candidates(Graph::Impl const* impl) { return has_planner(impl) && impl->planner->candidate_count() > 0; }

std::string no_details() { return {}; }

// Runs a stage and logs its result. The log's line has the graph's name separate from the error.
template <class Body, class Details = std::string (*)()>
error_t run_stage(char const* stage, Graph::Impl const* impl, Body const& body,
                  Details const& details = no_details) noexcept {
    return guarded_in(impl, [&] {
        StageLog const log(stage, impl);
        error_t error = guarded(body);
        log.result(error, details);
        return error;
    });
}

// The same for a stage of a build, of which a capsule is kept if it fails.
template <class Body, class Details = std::string (*)()>
error_t run_build_stage(char const* stage, Graph const& graph, Graph::Impl const* impl, Body const& body,
                        Details const& details = no_details) noexcept {
    error_t error = run_stage(stage, impl, body, details);
    if (error.is_bad()) api::keep_capsule(graph, nullptr, {stage, error});
    return error;
}

// If no plan can be built, the data kept about the graph may be the cause, so it is dropped.
error_t build_or_forget(Graph::Impl& impl, BuildPlanPolicy_t policy, bool in_parallel) {
    std::shared_ptr<Planner> planner = impl.filtered();
    error_t failure = planner->build(policy, in_parallel, impl.settings.filters);
    if (failure.is_bad()) plan::forget_plans(impl.planned->graph);
    else impl.planner = std::move(planner);
    return failure;
}

// Replaces the input of a stage by its result.
error_t advance(std::shared_ptr<Planner>& planner, Result<std::shared_ptr<Planner>> next) {
    return std::move(next).move_to(planner);
}

}  // namespace

void Graph::Impl::take(std::shared_ptr<Planner> made, nodes::CheckedGraphPointer graph, Target const& target) {
    shape_plans = plan::runs_other_shapes(settings)
                      ? std::make_shared<plan::ShapePlans>(graph, target, settings, api::backends())
                      : nullptr;
    modes = plan::default_modes();
    planner = std::move(made);
    planned = std::move(graph);
    planned_for = target.kind();
    verifies_first_run = first_run_verification.value_or(core::process::verifies_first_runs.get());
}

std::shared_ptr<Planner> Graph::Impl::filtered() const { return Planner::with_parts_within(settings.filters, planner); }

std::string Graph::Impl::difference_from_known() const {
    if (is_known || !planned || !asked_for) return {};
    return plan::difference_from_nearest(nodes::graph_of(planned), *asked_for, settings, api::backends());
}

Report Graph::check() const {
    auto const failed = [](error_t const& error) {
        return Report({{error.code, {}, error.err_msg, "a description without a failure", "describe the graph again"}});
    };
    return guarded_or(failed, [&] { return nodes::validate(detail::Graph_access::snapshot(*this).spec).report; });
}

Advice Graph::advice() const {
    return guarded_or([](error_t const&) { return Advice(); },
                      [&] {
                          auto const validation = nodes::validate(detail::Graph_access::snapshot(*this).spec);
                          return validation.graph ? nodes::advise(*validation.graph) : Advice();
                      });
}

error_t Graph::validate() noexcept {
    bool is_known = false;
    auto const check = [&]() -> error_t {
        auto const checked = check_and_fill(impl());
        is_known = checked.is_good() && checked.value().is_known;
        return checked.error();
    };
    return run_stage("validate", impl_, check, [&] { return remark_on(is_known); });
}

error_t Graph::build_operation_graph(Target const& target) {
    auto const lower = [&]() -> error_t {
        impl().planner.reset();
        impl().asked_for = target;
        auto const checked = check_and_fill(impl());
        if (checked.is_bad()) return checked.error();
        auto const& graph = checked.value().object;
        if (graph->graph.spec().nodes.empty()) return nothing_to_build();
        if (isLoggingEnabled()) log_advice(graph->graph);
        auto const proposed = plan::propose_known(nodes::graph_of(graph), target, impl().settings, api::backends());
        if (proposed.is_bad()) return proposed.error();
        impl().is_known = proposed.value().is_known;
        impl().take(proposed.value().object, graph, target);
        return {};
    };
    return run_build_stage("build_operation_graph", *this, impl_, lower,
                           [&] { return impl_->planned->graph.remarks() + remark_on(*impl_); });
}

error_t Graph::build_operation_graph(cudnnHandle_t handle) { return build_operation_graph(Target::cuda(handle)); }

error_t Graph::build_operation_graph() { return build_operation_graph(Target::cuda(nullptr)); }

static error_t no_modes() {
    return {error_code_t::INVALID_VALUE,
            "create_execution_plans() was given no heuristic mode to query; pass at least one, such as {HeurMode_t::A, "
            "HeurMode_t::FALLBACK}"};
}

error_t Graph::create_execution_plans(std::vector<HeurMode_t> const& modes) {
    auto const create = [&]() -> error_t {
        if (!has_planner(impl_)) return no_operation_graph("create_execution_plans");
        if (modes.empty()) return no_modes();
        SDPA_GRAPH_TRY(advance(impl_->planner, impl_->planner->with_candidates(modes)));
        impl_->modes = modes;
        return {};
    };
    return run_build_stage("create_execution_plans", *this, impl_, create,
                           [&] { return ", candidates: " + std::to_string(impl_->planner->candidate_count()); });
}

error_t Graph::create_execution_plan(std::int64_t const engine, std::initializer_list<Knob_choice> knobs) {
    return guarded([&] { return create_plan(engine, knobs); });
}

error_t Graph::create_plan(std::int64_t engine, std::vector<Knob_choice> const& knobs) {
    return guarded_in(impl_, [&] {
        if (!has_planner(impl_)) return no_operation_graph("create_execution_plan");
        plan::KnobChoices choices;
        for (Knob_choice const& knob : knobs) choices.emplace_back(knob.first, knob.second);
        return advance(impl_->planner, impl_->planner->with_engine(engine, choices));
    });
}

error_t Graph::get_engine_count(std::int64_t& count) {
    return guarded_in(impl_, [&] {
        return has_planner(impl_) ? impl_->planner->engine_count().move_to(count)
                                  : no_operation_graph("get_engine_count");
    });
}

error_t Graph::get_knobs_for_engine(std::int64_t const engine, std::vector<Knob>& knobs) {
    return guarded_in(impl_, [&] {
        return has_planner(impl_) ? impl_->planner->knobs_of_engine(engine).move_to(knobs)
                                  : no_operation_graph("get_knobs_for_engine");
    });
}

error_t Graph::check_support() {
    return run_build_stage("check_support", *this, impl_, [&] {
        return has_candidates(impl_) ? impl_->filtered()->check_support(impl_->settings.filters)
                                     : no_candidates("check_support");
    });
}

error_t Graph::check_support(cudnnHandle_t) { return check_support(); }

error_t Graph::build_plans(BuildPlanPolicy_t const policy, bool const multithreaded) {
    auto const build = [&]() -> error_t {
        if (!has_candidates(impl_)) return no_candidates("build_plans");
        api::EngineWatch const watch;
        SDPA_GRAPH_TRY(build_or_forget(*impl_, policy, multithreaded));
        if (watch.has_compiled()) api::keep_wanted(impl_->planned->graph.spec(), *impl_->planner->plan());
        return {};
    };
    return run_build_stage("build_plans", *this, impl_, build, [&] { return plan_text(*this); });
}

error_t Graph::build_plans(cudnnHandle_t const&, BuildPlanPolicy_t const policy, bool const multithreaded) {
    return build_plans(policy, multithreaded);
}

error_t Graph::build_plan_at_index(std::int64_t const index) {
    auto const build = [&] {
        return has_candidates(impl_) ? impl_->planner->build_at(index) : no_candidates("build_plan_at_index");
    };
    return run_build_stage("build_plan_at_index", *this, impl_, build,
                           [&] { return ", index " + std::to_string(index); });
}

error_t Graph::build_plan_at_index(cudnnHandle_t const&, std::int64_t const index) {
    return build_plan_at_index(index);
}

static error_t create_and_build(Graph& graph, std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t policy,
                                bool multithreaded) {
    SDPA_GRAPH_TRY(graph.create_execution_plans(modes));
    SDPA_GRAPH_TRY(graph.check_support());
    return graph.build_plans(policy, multithreaded);
}

// To the error of a graph that breaks rules or limits, adds the cheapest change after which all hold, where that is
// soon found. Where memory is lacking, the error stays as it is.
[[gnu::cold]] static error_t with_fix(Graph const& graph, Graph::Impl const* impl, Target const& target,
                                      error_t error) noexcept {
    if (error.where.rule.empty() || impl == nullptr) return error;
    static_cast<void>(guarded([&]() -> error_t {
        nodes::GraphSpec const spec = detail::Graph_access::snapshot(graph).spec;
        std::string const fix = api::cheapest_fix({spec, impl->settings, target, {}});
        if (!fix.empty()) error.err_msg += "\nTry: " + fix + ". Then all rules and limits hold.";
        return {};
    }));
    return error;
}

error_t Graph::build(Target const& target) {
    error_t refusal = build_operation_graph(target);
    if (refusal.is_bad()) return with_fix(*this, impl_, target, std::move(refusal));
    return guarded(
        [&] { return create_and_build(*this, plan::default_modes(), BuildPlanPolicy_t::HEURISTICS_CHOICE, false); });
}

error_t Graph::build(cudnnHandle_t const& handle, std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t const policy,
                     bool const multithreaded) {
    error_t refusal = build_operation_graph(handle);
    if (refusal.is_bad()) return with_fix(*this, impl_, Target::cuda(handle), std::move(refusal));
    return create_and_build(*this, modes, policy, multithreaded);
}

error_t Graph::build(std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t const policy, bool const multithreaded) {
    return build(nullptr, modes, policy, multithreaded);
}

}  // namespace cudnn_frontend::graph
