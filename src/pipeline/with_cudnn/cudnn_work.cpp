#include "pipeline/with_cudnn/cudnn_work.h"

#include "core/names.h"
#include "cudnn/library.h"

#include <algorithm>

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

namespace {

template <class Note>
std::string note_reason(std::vector<Note> const& has, std::vector<Note> const& required,
                        std::vector<Note> const& barred) {
    auto const holds = [&](Note note) { return std::find(has.begin(), has.end(), note) != has.end(); };
    for (Note const note : required) {
        if (!holds(note)) return std::string("lacks the note ") + core::name_of(note);
    }
    for (Note const note : barred) {
        if (holds(note)) return std::string("has the note ") + core::name_of(note);
    }
    return {};
}

std::string size_reason(char const* what, std::int64_t bytes, std::optional<std::int64_t> const& limit) {
    if (!limit || bytes <= *limit) return {};
    return "needs " + std::to_string(bytes) + " bytes of " + what + ", more than the limit of " +
           std::to_string(*limit);
}

std::string name_reason(std::string const& name, std::vector<std::string> const& barred) {
    for (std::string const& part : barred) {
        if (!part.empty() && name.find(part) != std::string::npos) return "has the deselected name '" + part + "'";
    }
    return {};
}

}  // namespace

std::string reason_to_bar(cudnn::EngineConfig const& config, std::int64_t workspace_bytes,
                          graph::PlanFilters const& filters) {
    for (std::string const& reason :
         {size_reason("workspace", workspace_bytes, filters.largest_workspace),
          size_reason("shared memory", config.shared_memory_bytes, filters.largest_shared_memory),
          name_reason(config.name, filters.barred_names),
          note_reason(config.behavior_notes, filters.required_behavior, filters.barred_behavior),
          note_reason(config.numerical_notes, filters.required_numerics, filters.barred_numerics)}) {
        if (!reason.empty()) return reason;
    }
    return {};
}

}  // namespace cudnn_frontend::inline v1::pipeline
