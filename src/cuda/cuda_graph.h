// CUDA graphs, their nodes, and graphs in them.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cudnn_frontend::cuda {

struct CudaGraph {
    explicit CudaGraph(CUgraph made) : graph(made) {}
    CudaGraph(CudaGraph const&) = delete;
    CudaGraph& operator=(CudaGraph const&) = delete;
    ~CudaGraph();

    CUgraph graph;
};

Result<std::shared_ptr<CudaGraph const>> make_cuda_graph();

Result<std::size_t> node_count(CUgraph graph);
// An error if the graph has nodes: recording needs an empty one.
error_t check_is_empty(CUgraph graph);

// The nodes that come after another one, or first of all for null.
Result<std::vector<CUgraphNode>> nodes_after(CUgraph graph, CUgraphNode last);
// An error where there is not exactly one.
Result<CUgraphNode> only_node(std::span<CUgraphNode const> nodes);
Result<CUgraphNode> node_after(CUgraph graph, CUgraphNode last);
Result<CUgraphNodeType> type_of(CUgraphNode node);

// Adds a node that does nothing, and comes after no other.
Result<CUgraphNode> add_empty_node(CUgraph graph);
// Adds a node that writes zeros and comes after others, in the thread's current context; update binds it to other
// memory.
Result<CUgraphNode> add_clearing(CUgraph graph, std::span<CUgraphNode const> after, std::span<std::byte> memory);
error_t update_clearing(CUgraphNode node, std::span<std::byte> memory);
// Adds a copy of a graph as a node that comes after others.
Result<CUgraphNode> add_child(CUgraph graph, std::span<CUgraphNode const> after, CUgraph child);
// The copy, which belongs to the node.
Result<CUgraph> child_of(CUgraphNode node);

// Adds the work that `run` puts on a stream to an empty graph, as one node, and runs none of it.
error_t record_run(CUstream stream, CUgraph graph, std::function<error_t()> const& run);

}  // namespace cudnn_frontend::cuda
