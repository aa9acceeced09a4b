// The steps of a program as graphs within a CUDA graph.
#pragma once

#include "cuda/cuda_graph.h"
#include "plan/seam/backend.h"

#include <vector>

namespace cudnn_frontend::kernels {

// Each step is a node that holds the step's graph. The main lane is a chain of them, and so is the side lane, which
// starts from an empty node, by which an update distinguishes the lanes, also in a copy of the graph.
class GraphSteps final : public plan::RecordedSteps {
   public:
    explicit GraphSteps(CUgraph graph) : graph_(graph) {}

    error_t add(Record const& record, rewrite::Lane lane) override;
    error_t update(Record const& record, rewrite::Lane lane) override;

   private:
    // The nodes for which the next step of the lane waits.
    std::vector<CUgraphNode> before(rewrite::Lane lane) const;
    // The node of the next step of the lane.
    Result<CUgraphNode> find_next(rewrite::Lane lane) const;
    // The first node of this type that waits for no other: the first step, or the empty node before the side lane.
    Result<CUgraphNode> first_node(CUgraphNodeType type) const;
    // Goes on to a step.
    void pass(CUgraphNode step, rewrite::Lane lane);

    CUgraph graph_;
    CUgraphNode last_main_ = nullptr, last_aside_ = nullptr;
    CUgraphNode waiter_ = nullptr;  // the step of the main lane that waits for the last one of the side lane
};

}  // namespace cudnn_frontend::kernels
