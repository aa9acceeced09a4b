// The stages of Graph from check to a plan.
#include "graph/graph_impl.h"
#include "graph/tensor_access.h"
#include "pipeline/guard.h"
#include "pipeline/planner.h"
#include "pipeline/shape_plans.h"
#include "pipeline/stage_log.h"
#include "pipeline/stages.h"

#include <utility>

namespace cudnn_frontend::graph {
namespace {

using pipeline::guarded;
using pipeline::guarded_or;
using pipeline::missing_stage;
using pipeline::Plan;
using pipeline::Planner;
using pipeline::StageLog;

// What the user described, and the graph that it makes.
struct Validated {
    nodes::GraphSpec described;
    nodes::ValidatedGraph graph;
};

// On success also fills what was inferred into the user's tensors.
Result<Validated> validate_and_fill(Graph const& graph) {
    Snapshot snapshot = detail::Graph_access::snapshot(graph);
    nodes::Validation validation = nodes::validate(snapshot.spec);
    if (!validation.graph) return validation.report.to_error();
    auto const& tensors = validation.graph->spec().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        detail::Tensor_access::fill_inferred(*snapshot.tensors[i], tensors[i]);
    }
    return Validated{std::move(snapshot.spec), std::move(*validation.graph)};
}

error_t no_operation_graph(char const* call) {
    return missing_stage(error_code_t::HEURISTIC_QUERY_FAILED, call, "build_operation_graph");
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

// Puts the result of a stage in place of what the stage started from.
error_t advance(std::shared_ptr<Planner>& planner, Result<std::shared_ptr<Planner>> next) {
    return std::move(next).move_to(planner);
}

}  // namespace

Report Graph::check() const {
    auto const failed = [](error_t const& error) {
        return Report({{error.code, {}, error.err_msg, "a description without a failure", "describe the graph again"}});
    };
    return guarded_or(failed, [&] { return nodes::validate(detail::Graph_access::snapshot(*this).spec).report; });
}

error_t Graph::validate() noexcept {
    return guarded([&] {
        StageLog const log("validate", impl().name);
        return log.result(guarded([&] { return validate_and_fill(*this).error(); }));
    });
}

error_t Graph::build_operation_graph(Target const& target) {
    StageLog const log("build_operation_graph", impl().name);
    return log.result(guarded([&]() -> error_t {
        impl().planner.reset();
        auto validated = validate_and_fill(*this);
        if (validated.is_bad()) return validated.error();
        auto [described, graph] = std::move(validated).value();
        if (graph.spec().nodes.empty()) return nothing_to_build();
        auto lowered = std::make_shared<pipeline::ShapePlans>(std::move(described), std::move(graph), impl().id, target,
                                                              impl().settings);
        SDPA_GRAPH_TRY(advance(impl().planner, Planner::lower(lowered->input())));
        impl().lowered = std::move(lowered);
        return {};
    }));
}

error_t Graph::build_operation_graph(cudnnHandle_t handle) { return build_operation_graph(Target::cuda(handle)); }

error_t Graph::build_operation_graph() { return build_operation_graph(Target::cuda(nullptr)); }

static error_t no_modes() {
    return {error_code_t::INVALID_VALUE,
            "create_execution_plans() was given no heuristic mode, so that no engine would be asked for; pass at least "
            "one, such as {HeurMode_t::A, HeurMode_t::FALLBACK}"};
}

error_t Graph::create_execution_plans(std::vector<HeurMode_t> const& modes) {
    if (!impl().planner) return no_operation_graph("create_execution_plans");
    StageLog const log("create_execution_plans", impl().name);
    auto const create = [&] {
        return modes.empty() ? no_modes() : advance(impl().planner, impl().planner->with_candidates(modes));
    };
    return log.result(guarded(create),
                      [&] { return ", candidates: " + std::to_string(impl().planner->candidate_count()); });
}

error_t Graph::create_execution_plan(std::int64_t const engine, std::initializer_list<Knob_choice> knobs) {
    return create_plan(engine, knobs);
}

error_t Graph::create_plan(std::int64_t engine, std::vector<Knob_choice> const& knobs) {
    if (!impl().planner) return no_operation_graph("create_execution_plan");
    return guarded([&] {
        pipeline::KnobChoices choices;
        for (Knob_choice const& knob : knobs) choices.emplace_back(knob.first, knob.second);
        return advance(impl().planner, impl().planner->with_engine(engine, choices));
    });
}

error_t Graph::get_engine_count(std::int64_t& count) {
    if (!impl().planner) return no_operation_graph("get_engine_count");
    return guarded([&] { return impl().planner->engine_count().move_to(count); });
}

error_t Graph::get_knobs_for_engine(std::int64_t const engine, std::vector<Knob>& knobs) {
    if (!impl().planner) return no_operation_graph("get_knobs_for_engine");
    return guarded([&] { return impl().planner->knobs_of_engine(engine).move_to(knobs); });
}

static error_t no_candidates(char const* call) {
    return missing_stage(error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, call,
                         "create_execution_plans with at least one heuristic mode");
}

error_t Graph::check_support() {
    if (!impl().planner || impl().planner->candidate_count() == 0) return no_candidates("check_support");
    StageLog const log("check_support", impl().name);
    return log.result(guarded([&] { return impl().planner->check_support(impl().settings.filters); }));
}

error_t Graph::check_support(cudnnHandle_t) { return check_support(); }

error_t Graph::build_plans(BuildPlanPolicy_t const policy, bool const multithreaded) {
    if (!impl().planner || impl().planner->candidate_count() == 0) return no_candidates("build_plans");
    StageLog const log("build_plans", impl().name);
    return log.result(guarded([&] { return impl().planner->build(policy, multithreaded, impl().settings.filters); }),
                      [&] { return plan_text(*this); });
}

error_t Graph::build_plans(cudnnHandle_t const&, BuildPlanPolicy_t const policy, bool const multithreaded) {
    return build_plans(policy, multithreaded);
}

error_t Graph::build_plan_at_index(std::int64_t const index) {
    if (!impl().planner || impl().planner->candidate_count() == 0) return no_candidates("build_plan_at_index");
    StageLog const log("build_plan_at_index", impl().name);
    return log.result(guarded([&] { return impl().planner->build_at(index); }),
                      [&] { return ", index " + std::to_string(index); });
}

error_t Graph::build_plan_at_index(cudnnHandle_t const&, std::int64_t const index) {
    return build_plan_at_index(index);
}

error_t Graph::build(Target const& target) {
    SDPA_GRAPH_TRY(build_operation_graph(target));
    SDPA_GRAPH_TRY(create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}));
    SDPA_GRAPH_TRY(check_support());
    return build_plans();
}

error_t Graph::build(cudnnHandle_t const& handle, std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t const policy,
                     bool const multithreaded) {
    SDPA_GRAPH_TRY(build_operation_graph(handle));
    SDPA_GRAPH_TRY(create_execution_plans(modes));
    SDPA_GRAPH_TRY(check_support());
    return build_plans(policy, multithreaded);
}

error_t Graph::build(std::vector<HeurMode_t> const& modes, BuildPlanPolicy_t const policy, bool const multithreaded) {
    return build(nullptr, modes, policy, multithreaded);
}

}  // namespace cudnn_frontend::graph
