// A built graph as bytes, and back.
#include "api/backends.h"
#include "api/graph/graph_errors.h"
#include "api/graph/graph_impl.h"
#include "json/graph_json.h"
#include "plan/shape_plans.h"
#include "plan/storage/plan_container.h"

namespace cudnn_frontend::graph {
namespace {

using api::guarded_in;
using core::guarded;
using plan::PlanContainer;
using plan::Planner;

// The target on which a stored plan runs: the host that it was made for, or the GPU of here.
Target target_for(PlanContainer const& container, Target const& gpu) {
    if (container.target == Target::Kind::CPU) return Target::cpu();
    return container.target == Target::Kind::REFERENCE ? Target::reference() : gpu;
}

}  // namespace

error_t Graph::serialize(std::vector<std::uint8_t>& bytes) const {
    return guarded_in(impl_, [&]() -> error_t {
        bool const is_built = impl_ != nullptr && impl_->planner && impl_->planner->plan() != nullptr;
        if (!is_built) {
            return api::missing_stage(error_code_t::GRAPH_EXECUTION_FAILED, "serialize to bytes", "build_plans");
        }
        plan::Plan const& built = *impl_->planner->plan();
        auto plan = built.serialize();
        if (plan.is_bad()) return plan.error();
        auto facts = built.executable()->facts();
        if (facts.is_bad()) return facts.error();
        bytes = plan::write_container({.target = impl_->planned_for,
                                       .graph_json = json::write_graph(impl_->planned->graph.spec()),
                                       .plan = std::move(plan).value(),
                                       .workspace_bytes = built.workspace_size(),
                                       .facts = std::move(facts).value()});
        return {};
    });
}

error_t Graph::deserialize(cudnnHandle_t handle, std::vector<std::uint8_t> const& bytes) {
    return load(Target::cuda(handle), bytes);
}
error_t Graph::deserialize(Cuda_stream stream, std::vector<std::uint8_t> const& bytes) {
    return load(Target::cuda(stream), bytes);
}

error_t Graph::load(Target const& gpu, std::vector<std::uint8_t> const& bytes) {
    return guarded([&]() -> error_t {
        SDPA_GRAPH_TRY(check_replaceable(impl_));
        auto const container = plan::read_container(bytes);
        if (container.is_bad()) return container.error();
        auto const spec = json::read_graph(container.value().graph_json);
        if (spec.is_bad()) return spec.error();
        auto const checked = nodes::check(spec.value());
        if (checked.is_bad()) return checked.error();
        Graph loaded;
        detail::Graph_access::assign(loaded, spec.value());
        loaded.impl_->settings = impl().settings;
        auto const& graph = checked.value().object;
        Target const target = target_for(container.value(), gpu);
        auto planner = Planner::load({graph->graph, target, impl().settings}, api::backends(), container.value().plan);
        if (planner.is_bad()) return planner.error();
        loaded.impl_->take(std::move(planner).value(), graph, target);
        *this = std::move(loaded);
        return {};
    });
}

}  // namespace cudnn_frontend::graph
