#include "plan/candidate.h"

namespace cudnn_frontend::plan {

Result<Plan const*> Candidate::build() {
    std::lock_guard const lock(mutex_);
    if (plan_) return plan_.get();
    if (std::string const reason = reason_against(); !reason.empty()) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED, info().name + " " + reason);
    }
    auto executable = engine_->build();
    if (executable.is_bad()) return executable.error();
    std::shared_ptr<EngineInfo const> info = engine_->info_of(*executable.value());
    if (!info) info = std::shared_ptr<EngineInfo const>(engine_, &engine_->info());
    plan_ = std::make_shared<Plan>(proposal_, std::move(info), std::move(executable).value());
    return plan_.get();
}

EngineInfo Candidate::known_info() const {
    Plan const* const built = plan();
    EngineInfo known = built == nullptr ? info() : built->info();
    if (built != nullptr) known.workspace_bytes = built->workspace_size();
    return known;
}

Plan const* Candidate::plan() const {
    std::lock_guard const lock(mutex_);
    return plan_.get();
}

}  // namespace cudnn_frontend::plan
