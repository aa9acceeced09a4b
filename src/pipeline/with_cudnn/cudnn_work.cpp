#include "pipeline/with_cudnn/cudnn_work.h"

namespace cudnn_frontend::pipeline {

std::string reason_to_refuse(bool is_wrong_in_parts, cudnn::EngineChoice const& choice, std::size_t cudnn_version) {
    if (!is_wrong_in_parts || !cudnn::may_split_keys(choice.knobs, cudnn_version)) return {};
    return "may split the keys of one query, which gives wrong results with a sink, generated dropout or per-head "
           "numbers";
}

Candidate::Candidate(std::shared_ptr<CudnnWork const> work, std::shared_ptr<Engine> engine)
    : work_(std::move(work)),
      engine_(std::move(engine)),
      info_(info_of(engine_->config(), *work_->context)),
      expected_workspace_(engine_->config().workspace_bytes + work_->context->bindings.scratch_bytes) {}

Candidate::Candidate(std::shared_ptr<CudnnPlan const> plan)
    : info_(plan->info()), expected_workspace_(plan->workspace_size()), plan_(std::move(plan)) {}

std::string Candidate::reason_to_refuse() const {
    if (!work_) return {};  // looked at before it was loaded
    return pipeline::reason_to_refuse(work_->is_wrong_in_parts, engine_->config().choice,
                                      work_->context->device.api->get_version());
}

Result<CudnnPlan const*> Candidate::build() {
    std::lock_guard const lock(mutex_);
    if (plan_) return plan_.get();
    if (std::string const reason = reason_to_refuse(); !reason.empty()) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED, info_.name + " " + reason);
    }
    auto compiled = engine_->compile(work_->graph->device(), work_->kernel_cache.get());
    if (compiled.is_bad()) return compiled.error();
    plan_ = std::make_shared<CudnnPlan>(work_->context, std::move(compiled).value());
    return plan_.get();
}

CudnnPlan const* Candidate::plan() const {
    std::lock_guard const lock(mutex_);
    return plan_.get();
}

}  // namespace cudnn_frontend::pipeline
