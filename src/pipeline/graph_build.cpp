// The stages of Graph: check, validate, build, execute.
#include "graph/graph_impl.h"
#include "graph/tensor_access.h"
#include "pipeline/guard.h"
#include "pipeline/planner.h"

#include <utility>

namespace cudnn_frontend::inline v1::graph {
namespace {

using pipeline::guarded;
using pipeline::Plan;
using pipeline::Planner;

error_t missing_stage(error_code_t code, char const* call, char const* needed) {
    return {code,
            std::string(call) + " needs the result of " + needed + "; call that first, or build() for all stages"};
}

// On success also fills what was inferred into the user's tensors.
Result<nodes::ValidatedGraph> validate_and_fill(Graph const& graph) {
    Snapshot const snapshot = detail::Graph_access::snapshot(graph);
    nodes::Validation validation = nodes::validate(snapshot.spec);
    if (!validation.graph) return validation.report.to_error();
    auto const& tensors = validation.graph->spec().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        detail::Tensor_access::fill_inferred(*snapshot.tensors[i], tensors[i]);
    }
    return std::move(*validation.graph);
}

Plan const* plan_of(std::shared_ptr<Planner const> const& planner) { return planner ? planner->plan() : nullptr; }

}  // namespace

Report Graph::check() const { return nodes::validate(detail::Graph_access::snapshot(*this).spec).report; }

error_t Graph::validate() {
    return guarded([&] { return validate_and_fill(*this).error(); });
}

error_t Graph::build_operation_graph(Target const& target) {
    return guarded([&]() -> error_t {
        impl().planner.reset();
        auto const graph = validate_and_fill(*this);
        if (graph.is_bad()) return graph.error();
        auto planner = Planner::lower(graph.value(), impl().id, target);
        if (planner.is_bad()) return planner.error();
        impl().planner = std::move(planner).value();
        return {};
    });
}

error_t Graph::build_operation_graph(cudnnHandle_t handle) { return build_operation_graph(Target::cuda(handle)); }

error_t Graph::build_operation_graph() { return build_operation_graph(Target::cuda(nullptr)); }

error_t Graph::create_execution_plans(std::vector<HeurMode_t> const& modes) {
    if (!impl().planner) {
        return missing_stage(error_code_t::HEURISTIC_QUERY_FAILED, "create_execution_plans", "build_operation_graph");
    }
    impl().planner = impl().planner->with_candidates(modes);
    return {};
}

error_t Graph::check_support() {
    if (impl().planner && impl().planner->candidate_count() > 0) return {};
    return missing_stage(error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, "check_support",
                         "create_execution_plans with at least one heuristic mode");
}

error_t Graph::check_support(cudnnHandle_t) { return check_support(); }

error_t Graph::build_plans(BuildPlanPolicy_t const, bool const) {
    return guarded([&]() -> error_t {
        if (!impl().planner || impl().planner->candidate_count() == 0) {
            return missing_stage(error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, "build_plans",
                                 "create_execution_plans");
        }
        auto planner = impl().planner->with_plan();
        if (planner.is_bad()) return planner.error();
        impl().planner = std::move(planner).value();
        return {};
    });
}

error_t Graph::build_plans(cudnnHandle_t const&, BuildPlanPolicy_t const policy, bool const multithreaded) {
    return build_plans(policy, multithreaded);
}

error_t Graph::build(Target const& target) {
    SDPA_GRAPH_TRY(build_operation_graph(target));
    SDPA_GRAPH_TRY(create_execution_plans({HeurMode_t::A}));
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

std::int64_t Graph::get_execution_plan_count() const {
    return impl_ && impl_->planner ? impl_->planner->candidate_count() : 0;
}

error_t Graph::get_plan_name(std::string& name) const {
    Plan const* const plan = impl_ ? plan_of(impl_->planner) : nullptr;
    if (plan == nullptr) return missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "get_plan_name", "build_plans");
    name = plan->name();
    return {};
}

error_t Graph::get_behavior_notes(std::vector<BehaviorNote_t>& notes) const {
    if (!impl_ || plan_of(impl_->planner) == nullptr) {
        return missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "get_behavior_notes", "build_plans");
    }
    notes.clear();
    return {};
}

std::int64_t Graph::get_workspace_size() const {
    Plan const* const plan = impl_ ? plan_of(impl_->planner) : nullptr;
    return plan == nullptr ? 0 : plan->workspace_size();
}

error_t Graph::get_workspace_size(std::int64_t& bytes) const {
    Plan const* const plan = impl_ ? plan_of(impl_->planner) : nullptr;
    if (plan == nullptr) {
        return missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "get_workspace_size", "build_plans");
    }
    bytes = plan->workspace_size();
    return {};
}

std::vector<std::int64_t> Graph::get_variant_pack_uids_sorted() const {
    std::vector<std::int64_t> uids;
    if (Plan const* const plan = impl_ ? plan_of(impl_->planner) : nullptr) {
        for (pipeline::Slot const& slot : plan->slots()) uids.push_back(slot.uid);
    }
    return uids;
}

error_t Graph::run(cudnnHandle_t handle, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const {
    Plan const* const plan = impl_ ? plan_of(impl_->planner) : nullptr;
    if (plan == nullptr) return missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "execute", "build_plans");
    return guarded([&] { return plan->execute(handle, pack, workspace, workspace_bytes); });
}

}  // namespace cudnn_frontend::inline v1::graph
