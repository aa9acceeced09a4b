#include "cuda/cuda_graph.h"

#include "core/guard.h"
#include "cuda/driver_table.h"

#include <bit>
#include <string>

namespace cudnn_frontend::cuda {

CudaGraph::~CudaGraph() {
    if (auto const found = driver(); found.is_good()) found.value()->destroy_graph(graph);
}

Result<std::shared_ptr<CudaGraph const>> make_cuda_graph() {
    CUgraph graph = nullptr;
    SDPA_GRAPH_TRY(ask("making a CUDA graph", [&](Driver const& cuda) { return cuda.create_graph(&graph, 0); }));
    return std::shared_ptr<CudaGraph const>(std::make_shared<CudaGraph>(graph));
}

Result<std::size_t> node_count(CUgraph graph) {
    std::size_t count = 0;
    SDPA_GRAPH_TRY(ask("counting the nodes of the CUDA graph",
                       [&](Driver const& cuda) { return cuda.graph_nodes(graph, nullptr, &count); }));
    return count;
}

error_t check_is_empty(CUgraph graph) {
    auto const nodes = node_count(graph);
    if (nodes.is_bad() || nodes.value() == 0) return nodes.error();
    return {error_code_t::INVALID_VALUE,
            "the CUDA graph has " + std::to_string(nodes.value()) + " nodes; populate_cuda_graph() needs an empty one"};
}

Result<std::vector<CUgraphNode>> nodes_after(CUgraph graph, CUgraphNode last) {
    auto const find = [&](CUgraphNode* nodes, std::size_t& count) {
        return ask("following the nodes of the CUDA graph", [&](Driver const& cuda) {
            return last == nullptr ? cuda.root_nodes(graph, nodes, &count) : cuda.dependent_nodes(last, nodes, &count);
        });
    };
    std::size_t count = 0;
    SDPA_GRAPH_TRY(find(nullptr, count));
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) SDPA_GRAPH_TRY(find(nodes.data(), count));
    return nodes;
}

Result<CUgraphNode> only_node(std::span<CUgraphNode const> nodes) {
    if (nodes.size() == 1) return nodes.front();
    return error_t(error_code_t::INVALID_VALUE, "the CUDA graph has " + std::to_string(nodes.size()) +
                                                    " nodes where the plan's has one; pass the graph that "
                                                    "populate_cuda_graph() filled with this plan");
}

Result<CUgraphNode> node_after(CUgraph graph, CUgraphNode last) {
    auto const nodes = nodes_after(graph, last);
    if (nodes.is_bad()) return nodes.error();
    return only_node(nodes.value());
}

Result<CUgraphNodeType> type_of(CUgraphNode node) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    SDPA_GRAPH_TRY(ask("asking for the type of a CUDA graph's node",
                       [&](Driver const& cuda) { return cuda.type_of_node(node, &type); }));
    return type;
}

Result<CUgraphNode> add_empty_node(CUgraph graph) {
    CUgraphNode node = nullptr;
    SDPA_GRAPH_TRY(ask("adding a node to a CUDA graph",
                       [&](Driver const& cuda) { return cuda.add_empty_node(&node, graph, nullptr, 0); }));
    return node;
}

static CUDA_MEMSET_NODE_PARAMS clearing_of(std::span<std::byte> memory) {
    CUDA_MEMSET_NODE_PARAMS zeros{};
    zeros.dst = std::bit_cast<CUdeviceptr>(memory.data());
    zeros.elementSize = 1;
    zeros.width = memory.size();
    zeros.height = 1;
    return zeros;
}

Result<CUgraphNode> add_clearing(CUgraph graph, std::span<CUgraphNode const> after, std::span<std::byte> memory) {
    CUDA_MEMSET_NODE_PARAMS const zeros = clearing_of(memory);
    CUcontext context = nullptr;
    SDPA_GRAPH_TRY(
        ask("asking for the CUDA context", [&](Driver const& cuda) { return cuda.current_context(&context); }));
    CUgraphNode node = nullptr;
    SDPA_GRAPH_TRY(ask("adding a node to a CUDA graph", [&](Driver const& cuda) {
        return cuda.add_fill_node(&node, graph, after.data(), after.size(), &zeros, context);
    }));
    return node;
}

error_t update_clearing(CUgraphNode node, std::span<std::byte> memory) {
    CUDA_MEMSET_NODE_PARAMS const zeros = clearing_of(memory);
    return ask("updating a node of a CUDA graph", [&](Driver const& cuda) { return cuda.set_fill_node(node, &zeros); });
}

Result<CUgraphNode> add_child(CUgraph graph, std::span<CUgraphNode const> after, CUgraph child) {
    CUgraphNode node = nullptr;
    SDPA_GRAPH_TRY(ask("adding a graph to a CUDA graph", [&](Driver const& cuda) {
        return cuda.add_child_graph_node(&node, graph, after.data(), after.size(), child);
    }));
    return node;
}

Result<CUgraph> child_of(CUgraphNode node) {
    CUgraph child = nullptr;
    SDPA_GRAPH_TRY(ask("asking for a graph within a CUDA graph",
                       [&](Driver const& cuda) { return cuda.graph_of_child(node, &child); }));
    return child;
}

// The capture ends whatever came of the run, since a stream that stays captured is of no use. Runs load kernels and
// make events, which other modes of capture forbid.
static Result<std::shared_ptr<CudaGraph const>> captured(CUstream stream, std::function<error_t()> const& run) {
    SDPA_GRAPH_TRY(ask("beginning to capture a stream",
                       [&](Driver const& cuda) { return cuda.begin_capture(stream, CU_STREAM_CAPTURE_MODE_RELAXED); }));
    error_t const outcome = core::guarded(run);
    CUgraph graph = nullptr;
    error_t const ended =
        ask("ending the capture of a stream", [&](Driver const& cuda) { return cuda.end_capture(stream, &graph); });
    std::shared_ptr<CudaGraph const> work;
    if (graph != nullptr) work = std::make_shared<CudaGraph>(graph);
    if (outcome.is_bad() || ended.is_bad()) return outcome.is_bad() ? outcome : ended;
    return work;
}

error_t record_run(CUstream stream, CUgraph graph, std::function<error_t()> const& run) {
    SDPA_GRAPH_TRY(check_is_empty(graph));
    auto const work = captured(stream, run);
    return work.is_bad() ? work.error() : add_child(graph, {}, work.value()->graph).error();
}

}  // namespace cudnn_frontend::cuda
