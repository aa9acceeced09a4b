// CUDA graphs, and graphs in them one after the other.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <cstddef>
#include <memory>

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
// An error if the graph has nodes: what is recorded must find it empty.
error_t check_is_empty(CUgraph graph);

// The node that comes after another one, or first of all for null; an error where there is not exactly one.
Result<CUgraphNode> node_after(CUgraph graph, CUgraphNode last);

// Adds a copy of a graph as a node that comes after another one, or after none for null.
Result<CUgraphNode> add_child(CUgraph graph, CUgraphNode after, CUgraph child);
// The copy, which belongs to the node.
Result<CUgraph> child_of(CUgraphNode node);

}  // namespace cudnn_frontend::cuda
