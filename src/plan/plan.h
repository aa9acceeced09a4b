// The result of a build: an executable, and the data against which each run's arguments are checked. Immutable; many
// threads may run it at once.
#pragma once

#include "plan/seam/backend.h"

#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend::plan {

// The arguments of one run.
struct Run {
    Queue queue = nullptr;
    PackSource const& pack;
    void* workspace = nullptr;
    std::int64_t workspace_bytes = -1;  // -1: the caller did not say
};

class Plan {
   public:
    // A plan of the proposal's engine: the facts about it, and its executable.
    Plan(std::shared_ptr<Proposal const> proposal, std::shared_ptr<EngineInfo const> info,
         std::shared_ptr<Executable const> executable);

    EngineInfo const& info() const { return *info_; }
    std::shared_ptr<Executable const> const& executable() const { return executable_; }
    std::int64_t workspace_size() const { return executable_->workspace_size(); }
    std::vector<Slot> const& slots() const { return proposal_->layout().slots; }

    // The plan for tensors of other shapes, where its engine serves them too.
    Result<std::shared_ptr<Plan const>> resized(TensorShapes shapes) const;

    error_t execute(Run const& run) const;
    error_t capture(Run const& run, Recording recording) const;
    error_t update(Run const& run, Recording recording) const;
    error_t warm_up(Queue queue) const { return executable_->warm_up(queue); }
    // Microseconds per run.
    Result<double> time(Run const& run) const;
    Result<Stored> serialize() const;

   private:
    // Checks the run's arguments, then calls `call` with the launch.
    template <class Call>
    error_t launch_with(Run const& run, Call const& call) const;
    error_t check_workspace(Run const& run) const;

    std::shared_ptr<Proposal const> proposal_;
    std::shared_ptr<EngineInfo const> info_;
    std::shared_ptr<Executable const> executable_;
};

}  // namespace cudnn_frontend::plan
