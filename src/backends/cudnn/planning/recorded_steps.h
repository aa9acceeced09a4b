// The steps of a program as graphs within a CUDA graph.
#pragma once

#include "cuda/cuda_graph.h"
#include "plan/backend.h"

namespace cudnn_frontend::cudnn {

// The graph has a chain of nodes, of which each holds the graph of one step.
class GraphSteps final : public plan::RecordedSteps {
   public:
    explicit GraphSteps(CUgraph graph) : graph_(graph) {}

    error_t add(Record const& record) override;
    error_t update(Record const& record) override;

   private:
    CUgraph graph_;
    CUgraphNode last_ = nullptr;
};

}  // namespace cudnn_frontend::cudnn
