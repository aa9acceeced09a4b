#include "pipeline/planner.h"

#include "expand/expand.h"

#include <utility>

namespace cudnn_frontend::inline v1::pipeline {

Result<std::shared_ptr<Planner const>> Planner::lower(nodes::ValidatedGraph const& graph, std::uint64_t graph_id,
                                                      Target const& target) {
    if (target.kind() == Target::Kind::CUDA) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                       "the graph is valid, but this build of the library has no cuDNN target; "
                       "build it with Target::cpu() or Target::reference() and host pointers");
    }
    expand::Capabilities capabilities;
    capabilities.fused_attention = target.kind() == Target::Kind::CPU;
    auto op_graph = expand::expand(graph, capabilities);
    if (op_graph.is_bad()) return op_graph.error();
    auto shared = std::make_shared<ir::OpGraph const>(std::move(op_graph).value());
    return std::shared_ptr<Planner const>(new Planner(target, graph_id, std::move(shared)));
}

std::shared_ptr<Planner const> Planner::with_candidates(std::vector<HeurMode_t> const& modes) const {
    auto next = std::shared_ptr<Planner>(new Planner(*this));
    next->candidate_count_ = modes.empty() ? 0 : 1;
    return next;
}

Result<std::shared_ptr<Planner const>> Planner::with_plan() const {
    auto plan = make_host_plan(*op_graph_, target_, graph_id_);
    if (plan.is_bad()) return plan.error();
    auto next = std::shared_ptr<Planner>(new Planner(*this));
    next->plan_ = plan.value();
    return std::shared_ptr<Planner const>(std::move(next));
}

}  // namespace cudnn_frontend::inline v1::pipeline
