#include "cudnn/planning/engine.h"

#include "cuda/driver.h"
#include "cudnn/library/backend_enums.h"
#include "cudnn/planning/plan_text.h"
#include "cudnn/planning/planning_device.h"
#include "kernels/launch/recorded_steps.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

cudnnHandle_t handle_of(plan::Queue queue) { return static_cast<cudnnHandle_t>(queue); }
CUgraph graph_of(plan::Recording recording) { return static_cast<CUgraph>(recording); }

constexpr auto kLane = rewrite::Lane::Main;

// At most one step has a kernel.
std::string kernel_of(ExtraSteps const& steps) {
    std::string code;
    for (auto const& step : steps) code += step->serialize();
    return code;
}

// Checks factors in the GPU's memory too.
error_t check_all_factors(plan::PackLayout const& layout, std::span<void* const> pointers) {
    plan::PackLayout readable_layout = layout;
    readable_layout.host_memory = plan::HostMemory::All;
    std::vector<float> factors(layout.slots.size());
    std::vector<void*> readable(pointers.begin(), pointers.end());
    for (std::size_t i = 0; i < layout.slots.size(); ++i) {
        if (!layout.slots[i].is_factor || layout.slots[i].is_on_host) continue;
        SDPA_GRAPH_TRY(cuda::download(std::as_writable_bytes(std::span(&factors[i], 1)), pointers[i]));
        readable[i] = &factors[i];
    }
    return plan::check_factors(readable_layout, readable);
}

}  // namespace

CudnnExecutable::CudnnExecutable(std::shared_ptr<Context const> context, std::shared_ptr<EnginePlan const> engine)
    : context_(std::move(context)),
      engine_(std::move(engine)),
      has_device_memory_alone_(std::ranges::none_of(context_->layout->slots, &plan::Slot::is_on_host)),
      replays_(replays()) {}

std::int64_t CudnnExecutable::workspace_size() const {
    return context_->bindings.scratch_bytes + engine_->workspace_bytes();
}

error_t CudnnExecutable::check_queue(plan::Queue queue) const { return cudnn::check_queue(context_->device, queue); }

RunMemory CudnnExecutable::memory_of(plan::Launch const& launch) const {
    RunMemory memory{.caller = launch.pointers, .tables = {}, .workspace = launch.workspace};
    if (context_->tables) memory.tables = context_->tables->pointers;
    return memory;
}

// A stream that is captured runs no work now for which this could wait.
error_t CudnnExecutable::check_contents(plan::Launch const& launch) const {
    if (!context_->checked_graph) return {};
    auto const queue = stream(launch.queue);
    if (queue.is_bad()) return queue.error();
    auto* const own = static_cast<CUstream>(queue.value());
    auto const is_captured = cuda::is_capturing(own);
    if (is_captured.is_bad() || is_captured.value()) return is_captured.error();
    SDPA_GRAPH_TRY(cuda::wait_for(own));
    SDPA_GRAPH_TRY(check_all_factors(*context_->layout, launch.pointers));
    return context_->check_indices(*context_->checked_graph, launch.pointers, cuda::download);
}

Result<plan::Stream> CudnnExecutable::stream(plan::Queue queue) const { return stream_of(context_->device, queue); }

error_t CudnnExecutable::launch_engine(plan::Launch const& launch) const {
    return execute(handle_of(launch.queue), *engine_, context_->bindings, memory_of(launch),
                   has_device_memory_alone_ ? &last_pack_ : nullptr);
}

error_t CudnnExecutable::launch(plan::Launch const& launch) const {
    SDPA_GRAPH_TRY(check_contents(launch));
    auto const record = [this](plan::Launch const& own, plan::Recording recording) { return capture(own, recording); };
    bool const may_replay = replays_ != nullptr && launch.may_replay;
    return may_replay && replays_->launch(launch, record) ? error_t() : launch_steps(launch);
}

error_t CudnnExecutable::launch_steps(plan::Launch const& launch) const {
    if (is_alone()) return launch_engine(launch);
    auto const queue = stream(launch.queue);
    if (queue.is_bad()) return queue.error();
    auto* const own = static_cast<CUstream>(queue.value());
    for (auto const& step : context_->before) SDPA_GRAPH_TRY(step->launch(launch, own));
    SDPA_GRAPH_TRY(launch_engine(launch));
    for (auto const& step : context_->behind) SDPA_GRAPH_TRY(step->launch(launch, own));
    return {};
}

error_t CudnnExecutable::capture_engine(plan::Launch const& launch, plan::Recording recording) const {
    SDPA_GRAPH_TRY(cuda::check_is_empty(graph_of(recording)));
    return populate_cuda_graph(handle_of(launch.queue), *engine_, context_->bindings, memory_of(launch),
                               graph_of(recording));
}

// A CUDA graph of an engine with steps has a child graph for each, as a program's does.
error_t CudnnExecutable::capture(plan::Launch const& launch, plan::Recording recording) const {
    if (is_alone()) return capture_engine(launch, recording);
    SDPA_GRAPH_TRY(stream(launch.queue).error());  // readies the thread
    kernels::GraphSteps steps(graph_of(recording));
    auto const add = [&](ExtraSteps const& extra) {
        error_t failure;
        for (std::size_t i = 0; i < extra.size() && failure.is_good(); ++i) {
            failure = steps.add([&](plan::Recording own) { return extra[i]->record(launch, graph_of(own)); }, kLane);
        }
        return failure;
    };
    SDPA_GRAPH_TRY(add(context_->before));
    SDPA_GRAPH_TRY(steps.add([&](plan::Recording own) { return capture_engine(launch, own); }, kLane));
    return add(context_->behind);
}

error_t CudnnExecutable::update_engine(plan::Launch const& launch, plan::Recording recording) const {
    return update_cuda_graph(handle_of(launch.queue), *engine_, context_->bindings, memory_of(launch),
                             graph_of(recording));
}

error_t CudnnExecutable::update(plan::Launch const& launch, plan::Recording recording) const {
    if (is_alone()) return update_engine(launch, recording);
    kernels::GraphSteps steps(graph_of(recording));
    auto const update = [&](ExtraSteps const& extra) {
        error_t failure;
        for (std::size_t i = 0; i < extra.size() && failure.is_good(); ++i) {
            failure = steps.update([&](plan::Recording own) { return extra[i]->update(launch, graph_of(own)); }, kLane);
        }
        return failure;
    };
    SDPA_GRAPH_TRY(update(context_->before));
    SDPA_GRAPH_TRY(steps.update([&](plan::Recording own) { return update_engine(launch, own); }, kLane));
    return update(context_->behind);
}

Result<std::unique_ptr<plan::RecordedSteps>> CudnnExecutable::steps_of(plan::Recording recording) const {
    return std::unique_ptr<plan::RecordedSteps>(std::make_unique<kernels::GraphSteps>(graph_of(recording)));
}

error_t CudnnExecutable::record_run(plan::Queue queue, plan::Recording recording,
                                    std::function<error_t()> const& run) const {
    auto const own = stream(queue);
    return own.is_bad() ? own.error() : cuda::record_run(static_cast<CUstream>(own.value()), graph_of(recording), run);
}

// Filling a throw-away CUDA graph loads the kernels without running them: one piece of memory does for all tensors.
error_t CudnnExecutable::warm_up(plan::Queue queue) const {
    SDPA_GRAPH_TRY(check_queue(queue));
    SDPA_GRAPH_TRY(cuda::use_device(context_->device.device->ordinal()));
    auto const memory = cuda::allocate(static_cast<std::size_t>(workspace_size()) + 4096);
    if (memory.is_bad()) return memory.error();
    std::uint64_t scalar = detail::make_scalar(1.0f).bits;  // nothing is computed from it
    std::vector<void*> pointers;
    for (plan::Slot const& slot : context_->layout->slots) {
        pointers.push_back(slot.is_on_host ? static_cast<void*>(&scalar) : memory.value()->pointer());
    }
    auto const graph = cuda::make_cuda_graph();
    if (graph.is_bad()) return graph.error();
    return capture_engine({queue, pointers, memory.value()->pointer()}, graph.value()->graph);
}

std::shared_ptr<plan::Executable const> CudnnExecutable::twin() const {
    return std::make_shared<CudnnExecutable>(context_, engine_);
}

// A replay would not look at the contents of memory first, as a program's steps do.
std::unique_ptr<plan::Replays> CudnnExecutable::replays() const {
    if (!context_->device.is_live || !has_device_memory_alone_ || context_->checked_graph) return nullptr;
    return replays_on(context_->device);
}

Result<std::unique_ptr<plan::Stopwatch>> CudnnExecutable::stopwatch(plan::Queue queue) const {
    return stopwatch_of(context_->device, queue);
}

Result<std::string> CudnnExecutable::serialize() const {
    auto const plan = engine_->serialize();
    if (plan.is_bad()) return plan.error();
    return write_plan({.cudnn_version = context_->device.api->get_version(),
                       .choice = engine_->config().choice,
                       .dynamic_shapes = context_->dynamic_shapes,
                       .device = context_->device.device->json(),
                       .bindings = context_->bindings,
                       .engine_plan = plan.value(),
                       .kernel = kernel_of(context_->behind)});
}

Result<plan::ExecutableFacts> CudnnExecutable::facts() const {
    auto const plan = engine_->serialize();
    if (plan.is_bad()) return plan.error();
    return plan::ExecutableFacts{.device = context_->device.device->name(),
                                 .library_version = static_cast<std::int64_t>(context_->device.api->get_version()),
                                 .kernels = kernels_in(plan.value())};
}

}  // namespace cudnn_frontend::cudnn
