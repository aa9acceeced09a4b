// Graph's ways to run a plan.
#include "api/graph/capsule.h"
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "plan/measured_times.h"
#include "plan/packs/run_rules.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace cudnn_frontend::graph {
namespace {

using api::guarded_in;
using core::guarded;
using plan::Plan;
using plan::Run;

// The plan at an index, or the current one for the index of a current plan.
Result<Plan const*> plan_to_run(Graph::Impl const* impl, std::int64_t index, std::int64_t current, char const* call) {
    bool const has_planner = impl != nullptr && impl->planner != nullptr;
    if (has_planner && index != current) return impl->planner->plan_at(index);
    Plan const* const plan = has_planner ? impl->planner->plan() : nullptr;
    if (plan != nullptr) return plan;
    return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, call, "build_plans");
}

// The same, for a run on that queue.
Result<Plan const*> plan_to_run(Graph::Impl const* impl, detail::Run_queue const& queue, std::int64_t index,
                                std::int64_t current, char const* call = "execute") {
    auto plan = plan_to_run(impl, index, current, call);
    if (plan.is_good()) SDPA_GRAPH_TRY(api::check_queue(impl->planned_for, queue));
    return plan;
}

error_t check_count(Plan const& plan, void** pointers, int count) {
    auto const needed = plan.slots().size();
    if (pointers != nullptr && count >= 0 && static_cast<std::size_t>(count) == needed) return {};
    std::string const found = pointers == nullptr ? "a null array of pointers" : std::to_string(count) + " pointers";
    return core::error_of({plan::run_rules::kEntries.violation(
        "", "", found, std::to_string(needed) + " in the order of get_variant_pack_uids_sorted()", "")});
}

// The caller's workspace was measured for the graph's own shapes.
error_t check_fits(Plan const& plan, Plan const& own) {
    if (plan.workspace_size() <= own.workspace_size()) return {};
    return core::error_of({plan::run_rules::kWorkspace.violation(
        "", "", "overridden shapes that need a workspace of " + std::to_string(plan.workspace_size()) + " bytes",
        "at most " + std::to_string(own.workspace_size()) +
            ", which get_workspace_size() returns for the graph's own shapes",
        "build the graph with the largest shapes")});
}

error_t only_current_overrides(std::int64_t index) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "shapes are overridden for plan " + std::to_string(index) +
                ", which is not the one that execute() runs; call build_plan_at_index(" + std::to_string(index) +
                ") to choose it, or leave out the shapes"};
}

}  // namespace

// A run, of which a capsule is kept if it fails.
template <class Run>
static error_t run_with_capsule(Graph const& graph, Graph::Impl const* impl, Variant_pack const& pack, Run const& run) {
    error_t error = run();
    if (error.is_bad()) {
        api::UserPack const source(pack, impl == nullptr ? 0 : impl->id);
        api::keep_capsule(graph, &source, {"execute", error});
    }
    return error;
}

error_t Graph::run(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const {
    auto const run = [&]() -> error_t {
        auto const plan = plan_to_run(impl_, queue, kCurrentPlan, kCurrentPlan);
        if (plan.is_bad()) return plan.error();
        if (impl_->verifies_first_run && !impl_->planner->is_proven(*plan.value())) [[unlikely]]
            return run_first(queue, pack, workspace, workspace_bytes);
        return plan.value()->execute({queue.pointer, api::UserPack(pack, impl_->id), workspace, workspace_bytes});
    };
    return run_with_capsule(*this, impl_, pack, [&] { return guarded_in(impl_, run); });
}

error_t Graph::run_at(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t index) const {
    auto const run = [&]() -> error_t {
        auto const plan = plan_to_run(impl_, queue, index, kCurrentPlan);
        if (plan.is_bad()) return plan.error();
        return plan.value()->execute({queue.pointer, api::UserPack(pack, impl_->id), workspace});
    };
    return run_with_capsule(*this, impl_, pack, [&] { return guarded_in(impl_, run); });
}

error_t Graph::run_sorted(detail::Run_queue queue, void** pointers, int count, void* workspace,
                          std::int64_t index) const {
    return guarded_in(impl_, [&]() -> error_t {
        auto const plan = plan_to_run(impl_, queue, index, kCurrentPlan);
        if (plan.is_bad()) return plan.error();
        SDPA_GRAPH_TRY(check_count(*plan.value(), pointers, count));
        api::SortedPack const pack(plan.value()->slots(), pointers);
        Variant_pack const view = Variant_pack::of(pack);
        bool const is_first = impl_->verifies_first_run && index == kCurrentPlan;
        return run_with_capsule(*this, impl_, view, [&] {
            if (is_first && !impl_->planner->is_proven(*plan.value())) [[unlikely]]
                return run_first(queue, view, workspace, -1);
            return plan.value()->execute({queue.pointer, api::UserPack(view, impl_->id), workspace});
        });
    });
}

error_t Graph::run_overridden(detail::Run_queue queue, Variant_pack pack, void* workspace, std::int64_t index,
                              std::vector<std::int64_t> const& uids, std::vector<std::vector<std::int64_t>> const& dims,
                              std::vector<std::vector<std::int64_t>> const& strides) const {
    if (uids.empty() && dims.empty() && strides.empty()) {
        return index == kCurrentPlan ? run(queue, pack, workspace, -1) : run_at(queue, pack, workspace, index);
    }
    return guarded_in(impl_, [&]() -> error_t {
        auto const own = plan_to_run(impl_, queue, kCurrentPlan, kCurrentPlan);
        if (own.is_bad()) return own.error();
        auto const named = plan_to_run(impl_, index, kCurrentPlan, "execute");
        if (named.is_bad()) return named.error();
        if (named.value() != own.value()) return only_current_overrides(index);
        if (!plan::runs_other_shapes(impl_->settings) || !impl_->shape_plans) {
            return {error_code_t::INVALID_VALUE,
                    "shapes are overridden, which needs set_override_shape_enabled(true) or "
                    "set_dynamic_shape_enabled(true) before the graph is built"};
        }
        auto const planner =
            impl_->shape_plans->plan_for({uids, dims, strides}, impl_->modes, own.value()->workspace_size());
        if (planner.is_bad()) return planner.error();
        SDPA_GRAPH_TRY(check_fits(*planner.value()->plan(), *own.value()));
        return planner.value()->plan()->execute({queue.pointer, api::UserPack(pack, impl_->id), workspace});
    });
}

error_t Graph::execute_plan_at_index(cudnnHandle_t handle, void** pointers, int count, void* workspace,
                                     std::int64_t const index, std::vector<std::int64_t> const& uids,
                                     std::vector<std::vector<std::int64_t>> const& dims,
                                     std::vector<std::vector<std::int64_t>> const& strides) const {
    return guarded([&]() -> error_t {
        auto const plan = plan_to_run(impl_, index, kCurrentPlan, "execute_plan_at_index");
        error_t fault = plan.is_bad() ? plan.error() : check_count(*plan.value(), pointers, count);
        if (fault.is_bad()) {
            api::name_graph(impl_, fault);
            return fault;
        }
        api::SortedPack const pack(plan.value()->slots(), pointers);
        return run_overridden(handle, Variant_pack::of(pack), workspace, index, uids, dims, strides);
    });
}

error_t Graph::prepare_variant_pack_template() {
    return guarded_in(impl_, [&]() -> error_t {
        return plan_to_run(impl_, kCurrentPlan, kCurrentPlan, "prepare_variant_pack_template").error();
    });
}

error_t Graph::tune(detail::Run_queue queue, Variant_pack pack, void* workspace) {
    return guarded_in(impl_, [&]() -> error_t {
        auto const current = plan_to_run(impl_, queue, kCurrentPlan, kCurrentPlan, "autotune");
        if (current.is_bad()) return current.error();
        std::vector<Plan const*> const plans = impl().planner->built_plans();
        // Each round has all plans, so that a clock that changes is no difference between them.
        constexpr int kRounds = 3;
        std::vector<std::vector<double>> rounds(plans.size());
        for (int round = 0; round < kRounds; ++round) {
            for (std::size_t i = 0; i < plans.size(); ++i) {
                auto const time = plans[i]->time({queue.pointer, api::UserPack(pack, impl_->id), workspace});
                if (time.is_bad()) return time.error();
                rounds[i].push_back(time.value());
            }
        }
        std::vector<plan::MeasuredTimes> times;
        std::ranges::transform(rounds, std::back_inserter(times), plan::MeasuredTimes::of);
        impl().choose_by_times(plans, times);
        return {};
    });
}

static error_t warm_up(Graph::Impl const* impl, detail::Run_queue const& queue, std::int64_t current) {
    return guarded_in(impl, [&]() -> error_t {
        auto const plan = plan_to_run(impl, queue, current, current, "warmup");
        return plan.is_bad() ? plan.error() : plan.value()->warm_up(queue.pointer);
    });
}

error_t Graph::warmup(cudnnHandle_t handle) { return warm_up(impl_, handle, kCurrentPlan); }
error_t Graph::warmup(Cuda_stream stream) { return warm_up(impl_, stream, kCurrentPlan); }

error_t Graph::fill_cuda_graph(detail::Run_queue queue, Variant_pack pack, void* workspace, CUgraph_st* graph,
                               bool is_update) {
    return guarded_in(impl_, [&]() -> error_t {
        auto const plan = plan_to_run(impl_, queue, kCurrentPlan, kCurrentPlan,
                                      is_update ? "update_cuda_graph" : "populate_cuda_graph");
        if (plan.is_bad()) return plan.error();
        api::UserPack const source(pack, impl_->id);
        Run const run{queue.pointer, source, workspace};
        return is_update ? plan.value()->update(run, graph) : plan.value()->capture(run, graph);
    });
}

}  // namespace cudnn_frontend::graph
