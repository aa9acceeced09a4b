// What planning a graph for cuDNN has made so far, shared by the copies of a planner.
#pragma once

#include "pipeline/with_cudnn/cudnn_plan.h"
#include "pipeline/with_cudnn/shared_graph.h"

#include <memory>
#include <mutex>
#include <string>

namespace cudnn_frontend::pipeline {

// The lowered graph and its circumstances; never changes.
struct CudnnWork {
    std::shared_ptr<CudnnContext const> context;
    std::shared_ptr<SharedGraph> graph;  // null where the plan was deserialized
    std::shared_ptr<cudnn::Descriptor const> kernel_cache;
    bool is_wrong_in_parts = false;  // where kernels split the keys of one query
};

// Why an engine would compute a graph wrong of which such kernels do so; empty where nothing is known against it.
std::string reason_to_refuse(bool is_wrong_in_parts, cudnn::EngineChoice const& choice, std::size_t cudnn_version);

// An engine that may serve the user's graph, and the plan once there is one.
class Candidate {
   public:
    Candidate(std::shared_ptr<CudnnWork const> work, std::shared_ptr<Engine> engine);
    explicit Candidate(std::shared_ptr<CudnnPlan const> plan);  // one that was loaded

    CandidateInfo const& info() const { return info_; }
    std::int64_t expected_workspace() const { return expected_workspace_; }
    // Why it would compute the graph wrong; empty where nothing is known against it.
    std::string reason_to_refuse() const;
    Result<CudnnPlan const*> build();
    CudnnPlan const* plan() const;

   private:
    std::shared_ptr<CudnnWork const> work_;
    std::shared_ptr<Engine> engine_;
    CandidateInfo info_;
    std::int64_t expected_workspace_ = 0;  // bytes, as heuristics say
    mutable std::mutex mutex_;
    std::shared_ptr<CudnnPlan const> plan_;
};

}  // namespace cudnn_frontend::pipeline
