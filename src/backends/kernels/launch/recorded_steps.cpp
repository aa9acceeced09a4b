#include "kernels/launch/recorded_steps.h"

namespace cudnn_frontend::kernels {

using rewrite::Lane;

error_t GraphSteps::add(Record const& record, Lane lane) {
    if (last_main_ == nullptr) SDPA_GRAPH_TRY(cuda::check_is_empty(graph_));
    auto const step = cuda::make_cuda_graph();
    if (step.is_bad()) return step.error();
    SDPA_GRAPH_TRY(record(step.value()->graph));
    if (lane == Lane::Side && last_aside_ == nullptr) {
        SDPA_GRAPH_TRY(cuda::add_empty_node(graph_).move_to(last_aside_));
    }
    auto const node = cuda::add_child(graph_, before(lane), step.value()->graph);
    if (node.is_good()) pass(node.value(), lane);
    return node.error();
}

error_t GraphSteps::update(Record const& record, Lane lane) {
    if (lane == Lane::Side && last_aside_ == nullptr) {
        SDPA_GRAPH_TRY(first_node(CU_GRAPH_NODE_TYPE_EMPTY).move_to(last_aside_));
    }
    auto const node = find_next(lane);
    if (node.is_bad()) return node.error();
    pass(node.value(), lane);
    auto const step = cuda::child_of(node.value());
    return step.is_bad() ? step.error() : record(step.value());
}

std::vector<CUgraphNode> GraphSteps::before(Lane lane) const {
    std::vector<CUgraphNode> nodes;
    if (lane == Lane::Side) return {last_aside_};
    if (last_main_ != nullptr) nodes.push_back(last_main_);
    if (last_aside_ != nullptr && waiter_ == nullptr) nodes.push_back(last_aside_);
    return nodes;
}

Result<CUgraphNode> GraphSteps::find_next(Lane lane) const {
    if (lane == Lane::Main) {
        return last_main_ == nullptr ? first_node(CU_GRAPH_NODE_TYPE_GRAPH) : cuda::node_after(graph_, last_main_);
    }
    auto nodes = cuda::nodes_after(graph_, last_aside_);
    if (nodes.is_bad()) return nodes.error();
    std::erase(nodes.value(), waiter_);
    return cuda::only_node(nodes.value());
}

Result<CUgraphNode> GraphSteps::first_node(CUgraphNodeType type) const {
    auto const nodes = cuda::nodes_after(graph_, nullptr);
    if (nodes.is_bad()) return nodes.error();
    std::vector<CUgraphNode> found;
    for (CUgraphNode const node : nodes.value()) {
        auto const its = cuda::type_of(node);
        if (its.is_bad()) return its.error();
        if (its.value() == type) found.push_back(node);
    }
    return cuda::only_node(found);
}

void GraphSteps::pass(CUgraphNode step, Lane lane) {
    if (lane == Lane::Side) {
        last_aside_ = step;
        waiter_ = nullptr;
    } else {
        last_main_ = step;
        if (last_aside_ != nullptr && waiter_ == nullptr) waiter_ = step;
    }
}

}  // namespace cudnn_frontend::kernels
