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
    plan_ = std::make_shared<Plan>(proposal_, engine_, std::move(executable).value());
    return plan_.get();
}

Plan const* Candidate::plan() const {
    std::lock_guard const lock(mutex_);
    return plan_.get();
}

}  // namespace cudnn_frontend::plan
