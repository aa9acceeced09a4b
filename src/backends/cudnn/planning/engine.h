// An engine of cuDNN for a user's graph, in the planner's form, and its executables.
#pragma once

#include "cudnn/library/engine_plan.h"
#include "cudnn/library/execution.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/planning/planning_device.h"
#include "cudnn/planning/shared_graph.h"
#include "cudnn/planning/steps/extra_step.h"
#include "cudnn/quirks/quirk.h"
#include "ir/op_graph.h"
#include "plan/packs/pack.h"
#include "plan/seam/backend.h"

#include <functional>
#include <memory>
#include <string>

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
    ExtraSteps before, behind;                   // the engine's work
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
    error_t record_run(plan::Queue queue, plan::Recording recording,
                       std::function<error_t()> const& run) const override;
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

// The lowered graph and its circumstances; never changes.
struct LoweredWork {
    std::shared_ptr<Context const> context;
    std::shared_ptr<SharedGraph> graph;
    std::shared_ptr<Descriptor const> kernel_cache;
    quirks::Quirk const* bar_on_split_keys = nullptr;  // null where split-KV kernels are right
};

// The reason for which the quirk, if there is one, bars an engine; empty where there is none.
std::string reason_to_refuse(quirks::Quirk const* bar_on_split_keys, EngineChoice const& choice,
                             std::size_t cudnn_version);

class CudnnEngine final : public plan::Engine {
   public:
    CudnnEngine(std::shared_ptr<LoweredWork const> work, std::shared_ptr<SharedEngine> engine);

    plan::EngineInfo const& info() const override { return info_; }
    std::string reason_against() const override { return reason_against_; }
    Result<std::shared_ptr<plan::Executable const>> build() override;

   private:
    std::shared_ptr<LoweredWork const> work_;
    std::shared_ptr<SharedEngine> engine_;
    plan::EngineInfo info_;
    std::string reason_against_;
};

// The engine of a stored plan, which was examined when it was loaded.
class LoadedEngine final : public plan::Engine {
   public:
    LoadedEngine(Context const& context, EngineConfig const& config, std::shared_ptr<CudnnExecutable const> executable);

    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override { return executable_; }

   private:
    plan::EngineInfo info_;
    std::shared_ptr<plan::Executable const> executable_;
};

}  // namespace cudnn_frontend::cudnn
