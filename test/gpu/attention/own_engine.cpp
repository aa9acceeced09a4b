#include "own_engine.h"

#include <string>

namespace sdpa_test {

using cudnn_frontend::HeurMode_t;
using cudnn_frontend::RewritePolicy_t;
using cudnn_frontend::ShapePolicy_t;

RunOn queue_of(AttentionCase const& c) {
    return c.dropout == Dropout::Probability || c.paging ? RunOn::Stream : RunOn::Handle;
}

cudnn_frontend::error_t build_by_own_engine(Graph& graph, GpuStream const& gpu, RunOn queue) {
    Target const target =
        queue == RunOn::Handle ? Target::cuda(gpu.handle()) : Target::cuda(cudnn_frontend::Cuda_stream(gpu.stream()));
    graph.set_rewrites(RewritePolicy_t::OFF).set_shape_policy(ShapePolicy_t::CLASSES);
    for (auto const& stage : {graph.build_operation_graph(target),
                              graph.create_execution_plans({HeurMode_t::OPENSOURCE}), graph.build_plans()}) {
        if (stage.is_bad()) return stage;
    }
    std::string name;
    if (auto const failure = graph.get_plan_name(name); failure.is_bad()) return failure;
    if (name == "attention") return {};
    return {cudnn_frontend::error_code_t::GRAPH_NOT_SUPPORTED,
            "HeurMode_t::OPENSOURCE asks for engines, and the plan is " + name};
}

}  // namespace sdpa_test
