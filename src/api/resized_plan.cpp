#include <cudnn_frontend/resized_plan.h>

#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "core/findings.h"
#include "plan/planner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::graph {

static error_t invalid(std::int64_t uid, char const* found, char const* needed) {
    return core::error_at("the shape for uid " + std::to_string(uid), error_code_t::INVALID_VALUE, found, needed);
}

static bool has_uid(Graph::Impl const& impl, std::int64_t uid) {
    auto const& tensors = impl.planned->graph.spec().tensors;
    return std::ranges::any_of(tensors, [&](nodes::TensorSpec const& tensor) { return tensor.uid == uid; });
}

static Result<std::vector<plan::TensorShape>> shapes_of(Graph::Impl const& impl, Tensor_shape const* shapes,
                                                        std::size_t count) {
    std::vector<plan::TensorShape> all;
    if (shapes == nullptr && count > 0)
        return error_t(error_code_t::INVALID_VALUE, "the array of shapes is null; pass one shape for each tensor");
    for (std::size_t i = 0; i < count; ++i) {
        auto const& [uid, dim, stride, rank] = shapes[i];
        if (dim == nullptr || stride == nullptr) return invalid(uid, "a null pointer", "lists of dims and strides");
        if (!has_uid(impl, uid)) return invalid(uid, "no tensor of that uid", "one that get_uid() returns");
        all.push_back({uid, {dim, rank}, {stride, rank}});
    }
    return all;
}

static error_t not_verified() {
    return {
        error_code_t::GRAPH_NOT_SUPPORTED,
        "first runs of the graph's plans are verified, which those of resized plans are not; build a graph of these "
        "shapes"};
}

static error_t check_filters(plan::Plan const& plan, plan::Filters const& filters) {
    std::string const reason = plan::reason_to_bar(plan.info(), plan.workspace_size(), filters);
    if (reason.empty()) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the graph's filters bar the resized plan: " + reason};
}

error_t Resized_plan::make(Graph const& graph, Tensor_shape const* shapes, std::size_t count,
                           Resized_plan& made) noexcept {
    Graph::Impl const* const impl = detail::Graph_access::parts(graph);
    return api::guarded_in(impl, [&]() -> error_t {
        plan::Plan const* const plan = impl != nullptr && impl->planner != nullptr ? impl->planner->plan() : nullptr;
        if (plan == nullptr)
            return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "Resized_plan::make", "build_plans");
        if (impl->verifies_first_run) return not_verified();
        auto const named = shapes_of(*impl, shapes, count);
        if (named.is_bad()) return named.error();
        auto resized = plan->resized(named.value());
        if (resized.is_bad()) return resized.error();
        SDPA_GRAPH_TRY(check_filters(*resized.value(), impl->settings.filters));
        made.plan_ = std::move(resized).value();
        made.graph_id_ = impl->id;
        made.planned_for_ = impl->planned_for;
        return {};
    });
}

std::int64_t Resized_plan::get_workspace_size() const noexcept {
    return plan_ != nullptr ? plan_->workspace_size() : 0;
}

error_t Resized_plan::run(detail::Run_queue queue, Variant_pack pack, void* workspace) const noexcept {
    return core::guarded([&]() -> error_t {
        if (plan_ == nullptr)
            return {error_code_t::GRAPH_EXECUTION_FAILED, "there is no plan yet; call Resized_plan::make() first"};
        SDPA_GRAPH_TRY(api::check_queue(planned_for_, queue));
        return plan_->execute({queue.pointer, api::UserPack(pack, graph_id_), workspace});
    });
}

}  // namespace cudnn_frontend::graph
