// An engine that may serve a user's graph, and the plan once there is one.
#pragma once

#include "core/process/plan_store.h"
#include "plan/measured_times.h"
#include "plan/plan.h"
#include "plan/seam/backend.h"

#include <cudnn_frontend/explanation.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace cudnn_frontend::plan {

class Candidate {
   public:
    // The engine is one of the backend with that name.
    Candidate(std::string backend, std::shared_ptr<Proposal const> proposal, std::shared_ptr<Engine> engine)
        : backend_(std::move(backend)), proposal_(std::move(proposal)), engine_(std::move(engine)) {}

    // The results of building and timing it.
    struct History {
        error_t failure;  // of the last build
        PlanOrigin origin = PlanOrigin::NOT_BUILT;
        core::process::StoreMiss store_miss;  // of what was compiled
        MeasuredTimes times;                  // no runs before it is timed
        std::string refutation;               // the wrong results of its first run; empty if there are none
    };

    std::string const& backend() const { return backend_; }
    std::shared_ptr<Proposal const> const& proposal() const { return proposal_; }
    Engine const& engine() const { return *engine_; }

    EngineInfo const& info() const { return engine_->info(); }
    // The plan's facts, with the workspace that it needs, where there is one.
    EngineInfo known_info() const;
    // The engine's own, or that of a first run.
    std::string reason_against() const;

    // Builds on the first call; a failure is tried again.
    Result<Plan const*> build();
    // Null before it is built.
    Plan const* plan() const;
    History history() const;
    void note_times(MeasuredTimes const& times);
    void refute(std::string const& wrong);

   private:
    Result<std::shared_ptr<Executable const>> build_executable();
    std::string reason() const;

    std::string backend_;
    std::shared_ptr<Proposal const> proposal_;
    std::shared_ptr<Engine> engine_;
    mutable std::mutex mutex_;
    std::shared_ptr<Plan const> plan_;
    History history_;
};

// The reason why the user's filters bar an engine; empty if they do not.
std::string reason_to_bar(EngineInfo const& engine, std::int64_t workspace_bytes, Filters const& filters);

}  // namespace cudnn_frontend::plan
