#include "plan/plan.h"

#include "core/text.h"
#include "plan/packs/run_rules.h"

namespace cudnn_frontend::plan {

// Every backend may rely on this alignment of a workspace; allocators give more.
static constexpr std::uintptr_t kWorkspaceAlignment = 16;
// Enough to average over, few enough for plans that take seconds: autotuning has several rounds of them.
static constexpr int kTimedRuns = 4;

Plan::Plan(std::shared_ptr<Proposal const> proposal, std::shared_ptr<EngineInfo const> info,
           std::shared_ptr<Executable const> executable)
    : proposal_(std::move(proposal)), info_(std::move(info)), executable_(std::move(executable)) {}

error_t Plan::check_workspace(Run const& run) const {
    std::int64_t const needed = workspace_size();
    if (needed == 0) return {};
    auto const invalid = [&](std::string const& found) {
        return core::error_of({run_rules::kWorkspace.violation(
            "", "", found,
            core::text(needed, " bytes, as get_workspace_size() returns, at a multiple of ", kWorkspaceAlignment,
                       " bytes"),
            "")});
    };
    if (run.workspace_bytes >= 0 && run.workspace_bytes < needed) {
        return invalid(core::text("a workspace of ", run.workspace_bytes, " bytes"));
    }
    if (run.workspace == nullptr) return invalid("a workspace that is null");
    if (reinterpret_cast<std::uintptr_t>(run.workspace) % kWorkspaceAlignment != 0) {
        return invalid("a workspace that is not aligned");
    }
    return {};
}

Result<std::shared_ptr<Plan const>> Plan::resized(TensorShapes shapes) const {
    auto layout = plan::resized(proposal_->layout(), shapes);
    if (layout.is_bad()) return layout.error();
    auto executable = executable_->resized(shapes);
    if (executable.is_bad()) return executable.error();
    auto proposal =
        std::make_shared<Proposal const>(std::make_shared<PackLayout const>(std::move(layout).value()), Engines());
    return std::make_shared<Plan const>(std::move(proposal), info_, std::move(executable).value());
}

template <class Call>
error_t Plan::launch_with(Run const& run, Call const& call) const {
    SDPA_GRAPH_TRY(executable_->check_queue(run.queue));
    PackLayout const& layout = proposal_->layout();
    PointerList pointers(layout.slots.size());
    SDPA_GRAPH_TRY(resolve(run.pack, layout, pointers.all()));
    SDPA_GRAPH_TRY(check_alignment(layout.slots, pointers.all()));
    SDPA_GRAPH_TRY(check_factors(layout, pointers.all()));
    SDPA_GRAPH_TRY(check_workspace(run));
    SDPA_GRAPH_TRY(check_overlap(layout.slots, pointers.all()));
    SDPA_GRAPH_TRY(check_workspace_overlap(layout.slots, pointers.all(), run.workspace, workspace_size()));
    return call(Launch{run.queue, pointers.all(), run.workspace});
}

error_t Plan::execute(Run const& run) const {
    return launch_with(run, [&](Launch const& launch) { return executable_->launch(launch); });
}

error_t Plan::capture(Run const& run, Recording recording) const {
    if (recording == nullptr) {
        return {error_code_t::INVALID_VALUE, "the CUDA graph is null; pass one of cudaGraphCreate()"};
    }
    return launch_with(run, [&](Launch const& launch) { return executable_->capture(launch, recording); });
}

error_t Plan::update(Run const& run, Recording recording) const {
    if (recording == nullptr) return {error_code_t::INVALID_VALUE, "the CUDA graph is null; pass the populated one"};
    return launch_with(run, [&](Launch const& launch) { return executable_->update(launch, recording); });
}

Result<Stored> Plan::serialize() const {
    auto bytes = executable_->serialize();
    if (bytes.is_bad()) return bytes.error();
    return Stored{info().name, std::move(bytes).value()};
}

Result<double> Plan::time(Run const& run) const {
    // Some plans may have a replay already, which is faster.
    auto const launch_plainly = [&] {
        return launch_with(run, [&](Launch launch) {
            launch.may_replay = false;
            return executable_->launch(launch);
        });
    };
    SDPA_GRAPH_TRY(launch_plainly());  // loads the kernels, touches the memory
    auto const watch = executable_->stopwatch(run.queue);
    if (watch.is_bad()) return watch.error();
    SDPA_GRAPH_TRY(watch.value()->start());
    for (int i = 0; i < kTimedRuns; ++i) SDPA_GRAPH_TRY(launch_plainly());
    auto const microseconds = watch.value()->stop();
    if (microseconds.is_bad()) return microseconds.error();
    return microseconds.value() / kTimedRuns;
}

}  // namespace cudnn_frontend::plan
