// A plan that an engine of cuDNN runs.
#pragma once

#include "cudnn/library/engine_plan.h"
#include "cudnn/library/kept_pack.h"
#include "cudnn/library/lowered_graph.h"
#include "ir/op_graph.h"
#include "pipeline/plan.h"
#include "pipeline/with_cudnn/device_tables.h"
#include "pipeline/with_cudnn/planning_device.h"

namespace cudnn_frontend::pipeline {

// What all plans of a graph run with.
struct CudnnContext {
    PlanningDevice device;
    PackLayout layout;
    cudnn::Bindings bindings;
    bool dynamic_shapes = false;
    bool is_deterministic = true;                      // the graph; an engine can be otherwise
    std::shared_ptr<ir::OpGraph const> checked_graph;  // where runs look at what the memory holds first; else null
    std::shared_ptr<DeviceTables const> tables;        // null where there are none, and where the device is not there
};

class CudnnPlan final : public Plan {
   public:
    CudnnPlan(std::shared_ptr<CudnnContext const> context, std::shared_ptr<cudnn::EnginePlan const> engine);

    cudnn::EngineConfig const& config() const { return engine_->config(); }

    CandidateInfo const& info() const override { return info_; }
    std::int64_t workspace_size() const override;
    std::vector<Slot> const& slots() const override { return context_->layout.slots; }

    error_t execute(Run const& run) const override;
    error_t populate_cuda_graph(Run const& run, CUgraph_st* graph) const override;
    error_t update_cuda_graph(Run const& run, CUgraph_st* graph) const override;
    error_t warm_up(cudnnHandle_t handle) const override;
    Result<double> time(Run const& run) const override;
    Result<std::string> serialize() const override;

   private:
    // Checks the run's arguments, then calls with the pointers of each source.
    template <class Call>
    error_t with_memory(Run const& run, Call call) const;

    error_t populate(Run const& run, CUgraph_st* graph, bool checks_overlap) const;

    // On the host, with a copy of them.
    error_t check_contents(Run const& run, std::span<void* const> pointers) const;

    std::shared_ptr<CudnnContext const> context_;
    std::shared_ptr<cudnn::EnginePlan const> engine_;
    CandidateInfo info_;
    bool may_keep_pack_;
    mutable cudnn::KeptPack last_pack_;
};

CandidateInfo info_of(cudnn::EngineConfig const& config, CudnnContext const& context);

}  // namespace cudnn_frontend::pipeline
