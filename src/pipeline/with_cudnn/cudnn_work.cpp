#include "pipeline/with_cudnn/cudnn_work.h"

#include "cudnn/library.h"

namespace cudnn_frontend::inline v1::pipeline {

Candidate::Candidate(std::shared_ptr<CudnnWork const> work, cudnn::BackendConfig config)
    : work_(std::move(work)),
      config_(config.value),
      info_(info_of(config_, *work_->context)),
      unused_(std::move(config)) {}

Candidate::Candidate(cudnn::EngineConfig config, std::shared_ptr<CudnnPlan const> plan)
    : config_(std::move(config)), info_(plan->info()), is_tried_(true), plan_(std::move(plan)) {}

Result<CudnnPlan const*> Candidate::build() {
    std::lock_guard const lock(mutex_);
    if (!is_tried_) {
        is_tried_ = true;
        cudnn::keep_compiler_open();
        auto engine = cudnn::EnginePlan::build(std::move(unused_), work_->device(), work_->kernel_cache.get());
        failure_ = engine.error();
        if (engine.is_good()) plan_ = std::make_shared<CudnnPlan>(work_->context, std::move(engine).value());
    }
    if (!plan_) return failure_;
    return plan_.get();
}

CudnnPlan const* Candidate::plan() const {
    std::lock_guard const lock(mutex_);
    return plan_.get();
}

}  // namespace cudnn_frontend::inline v1::pipeline
