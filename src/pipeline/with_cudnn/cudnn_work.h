// What planning a graph for cuDNN has made so far, shared by the copies of a planner.
#pragma once

#include "cudnn/heuristics.h"
#include "cudnn/lower.h"
#include "pipeline/with_cudnn/cudnn_plan.h"

#include <memory>
#include <mutex>

namespace cudnn_frontend::inline v1::pipeline {

// The lowered graph and its circumstances; never changes.
struct CudnnWork {
    std::shared_ptr<CudnnContext const> context;
    cudnn::Descriptor graph;
    std::int64_t engine_count = 0;
    std::int32_t sm_count = 0;
    std::shared_ptr<cudnn::Descriptor const> kernel_cache;

    cudnn::Device const* device() const { return context->device.device.get(); }
};

// An engine that may serve, and the plan or the failure once it was tried.
class Candidate {
   public:
    Candidate(std::shared_ptr<CudnnWork const> work, cudnn::BackendConfig config);
    // One that is built already.
    Candidate(cudnn::EngineConfig config, std::shared_ptr<CudnnPlan const> plan);

    cudnn::EngineConfig const& config() const { return config_; }
    CandidateInfo const& info() const { return info_; }
    // Compiles on the first call; later calls give the same answer.
    Result<CudnnPlan const*> build();
    CudnnPlan const* plan() const;

   private:
    std::shared_ptr<CudnnWork const> work_;
    cudnn::EngineConfig config_;
    CandidateInfo info_;
    mutable std::mutex mutex_;
    cudnn::BackendConfig unused_;  // until built
    bool is_tried_ = false;
    std::shared_ptr<CudnnPlan const> plan_;
    error_t failure_;
};

}  // namespace cudnn_frontend::inline v1::pipeline
