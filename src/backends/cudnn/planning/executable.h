// An executable of cuDNN's engines: a plan of its own, with the source of each of its pointers.
#pragma once

#include "cudnn/library/engine_plan.h"
#include "cudnn/library/execution.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/planning/planning_device.h"
#include "cudnn/planning/shared_graph.h"
#include "cudnn/planning/steps/step_beside.h"
#include "ir/op_graph.h"
#include "plan/packs/pack.h"
#include "plan/seam/backend.h"

namespace cudnn_frontend::cudnn {

// The objects with which all executables of a graph run.
struct Context {
    PlanningDevice device;
    std::shared_ptr<plan::PackLayout const> layout;
    Bindings bindings;
    bool dynamic_shapes = false;
    bool is_deterministic = true;                      // true of the graph; an engine may still differ
    std::shared_ptr<ir::OpGraph const> checked_graph;  // for runs that first check the contents of memory; else null
    plan::CheckIndices check_indices = nullptr;
    StepsBeside before, behind;                  // the engine's work
    std::shared_ptr<DeviceTables const> tables;  // null where there are none, and where the device is not there
};

class CudnnExecutable final : public plan::Executable {
   public:
    CudnnExecutable(std::shared_ptr<Context const> context, std::shared_ptr<EnginePlan const> engine);

    std::int64_t workspace_size() const override;
    error_t check_queue(plan::Queue queue) const override;
    Result<plan::Stream> stream(plan::Queue queue) const override;
    error_t launch(plan::Launch const& launch) const override;
    error_t capture(plan::Launch const& launch, plan::Recording recording) const override;
    error_t update(plan::Launch const& launch, plan::Recording recording) const override;
    Result<std::unique_ptr<plan::RecordedSteps>> steps_of(plan::Recording recording) const override;
    error_t warm_up(plan::Queue queue) const override;
    std::shared_ptr<plan::Executable const> twin() const override;
    std::unique_ptr<plan::Replays> replays() const override;
    Result<std::unique_ptr<plan::Stopwatch>> stopwatch(plan::Queue queue) const override;
    Result<std::string> serialize() const override;
    Result<plan::ExecutableFacts> facts() const override;

   private:
    RunMemory memory_of(plan::Launch const& launch) const;
    // Checks a copy of the contents on the host.
    error_t check_contents(plan::Launch const& launch) const;
    bool is_alone() const { return context_->before.empty() && context_->behind.empty(); }
    error_t launch_steps(plan::Launch const& launch) const;
    error_t launch_engine(plan::Launch const& launch) const;
    error_t capture_engine(plan::Launch const& launch, plan::Recording recording) const;
    error_t update_engine(plan::Launch const& launch, plan::Recording recording) const;

    std::shared_ptr<Context const> context_;
    std::shared_ptr<EnginePlan const> engine_;
    // Whether a launch depends on the pointers alone, not on what the host reads there.
    bool has_device_memory_alone_;
    mutable KeptPack last_pack_;
    std::unique_ptr<plan::Replays> replays_;
};

}  // namespace cudnn_frontend::cudnn
