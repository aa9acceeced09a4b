#include "plan/candidate.h"

namespace cudnn_frontend::plan {

using core::process::engine_counts_of_thread;

Result<std::shared_ptr<Executable const>> Candidate::build_executable() {
    auto const before = engine_counts_of_thread();
    core::process::StoreMiss miss;
    core::process::StoreWatch const watch(miss);
    auto executable = engine_->build();
    history_.failure = executable.error();
    if (executable.is_bad()) return executable;
    auto const& now = engine_counts_of_thread();
    bool const is_compiled = now.compiled_in_all() > before.compiled_in_all();
    if (is_compiled) history_.store_miss = std::move(miss);
    bool const is_loaded = now.loaded_in_all() > before.loaded_in_all();
    history_.origin = is_compiled ? PlanOrigin::COMPILED : is_loaded ? PlanOrigin::STORED : PlanOrigin::KNOWN;
    return executable;
}

std::string Candidate::reason() const {
    return history_.refutation.empty() ? engine_->reason_against()
                                       : "gave wrong results in its first run: " + history_.refutation;
}

std::string Candidate::reason_against() const {
    std::lock_guard const lock(mutex_);
    return reason();
}

void Candidate::refute(std::string const& wrong) {
    std::lock_guard const lock(mutex_);
    history_.refutation = wrong;
}

Result<Plan const*> Candidate::build() {
    std::lock_guard const lock(mutex_);
    if (plan_) return plan_.get();
    if (std::string const against = reason(); !against.empty()) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED, info().name + " " + against);
    }
    auto executable = build_executable();
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

Candidate::History Candidate::history() const {
    std::lock_guard const lock(mutex_);
    return history_;
}

void Candidate::note_times(MeasuredTimes const& times) {
    std::lock_guard const lock(mutex_);
    history_.times = times;
}

}  // namespace cudnn_frontend::plan
