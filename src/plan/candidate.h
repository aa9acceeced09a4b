// An engine that may serve a user's graph, and the plan once there is one.
#pragma once

#include "plan/plan.h"
#include "plan/seam/backend.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace cudnn_frontend::plan {

class Candidate {
   public:
    Candidate(std::shared_ptr<Proposal const> proposal, std::shared_ptr<Engine> engine)
        : proposal_(std::move(proposal)), engine_(std::move(engine)) {}

    EngineInfo const& info() const { return engine_->info(); }
    // The plan's facts, with the workspace that it needs, where there is one.
    EngineInfo known_info() const;
    std::string reason_against() const { return engine_->reason_against(); }

    // Builds on the first call; a failure is tried again.
    Result<Plan const*> build();
    // Null before it is built.
    Plan const* plan() const;

   private:
    std::shared_ptr<Proposal const> proposal_;
    std::shared_ptr<Engine> engine_;
    mutable std::mutex mutex_;
    std::shared_ptr<Plan const> plan_;
};

// The reason why the user's filters bar an engine; empty if they do not.
std::string reason_to_bar(EngineInfo const& engine, std::int64_t workspace_bytes, Filters const& filters);

}  // namespace cudnn_frontend::plan
