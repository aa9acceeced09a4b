// The steps of a program as graphs within a CUDA graph.
#pragma once

#include "cuda/cuda_graph.h"
#include "plan/backend.h"

#include <vector>

namespace cudnn_frontend::cudnn {

// Each step is a node that holds the step's graph. The main lane is a chain of them, and so is the side lane, which
// starts from an empty node: by it an update tells the lanes apart, also in a copy of the graph.
class GraphSteps final : public plan::RecordedSteps {
   public:
    explicit GraphSteps(CUgraph graph) : graph_(graph) {}

    error_t add(Record const& record, rewrite::Lane lane) override;
    error_t update(Record const& record, rewrite::Lane lane) override;

   private:
    // What the next step of the lane waits for.
    std::vector<CUgraphNode> before(rewrite::Lane lane) const;
    // The node of the next step of the lane.
    Result<CUgraphNode> find_next(rewrite::Lane lane) const;
    // Of the two nodes that wait for none the one of this type: the first step, or the empty node before the side lane.
    Result<CUgraphNode> first_node(CUgraphNodeType type) const;
    // Goes on to a step.
    void pass(CUgraphNode step, rewrite::Lane lane);

    CUgraph graph_;
    CUgraphNode last_main_ = nullptr, last_aside_ = nullptr;
    CUgraphNode waiter_ = nullptr;  // the step of the main lane that waits for the last one aside
};

}  // namespace cudnn_frontend::cudnn
