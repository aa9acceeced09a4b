#include "kernels/neighborhood/neighborhood_engine.h"

#include "cuda/cuda_graph.h"
#include "kernels/launch/stream_device.h"
#include "kernels/neighborhood/neighborhood_forms.h"
#include "plan/storage/blob.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

// The source of a kernel's pointer: a slot of the pack, or the workspace.
struct BoundPointer {
    bool is_in_workspace;
    std::size_t slot;
    std::int64_t offset;  // in the workspace
};

void* pointer_of(BoundPointer const& source, plan::Launch const& launch) {
    if (!source.is_in_workspace) return launch.pointers[source.slot];
    return static_cast<std::byte*>(launch.workspace) + source.offset;
}

struct BoundKernel {
    KernelPointer kernel;
    std::vector<BoundPointer> sources;
};

class NeighborhoodExecutable final : public plan::Executable {
   public:
    NeighborhoodExecutable(std::vector<BoundKernel> kernels, QueueDevice device, std::int64_t workspace_size)
        : kernels_(std::move(kernels)),
          device_(std::move(device)),
          workspace_size_(workspace_size),
          replays_(replays()) {}

    std::int64_t workspace_size() const override { return workspace_size_; }
    error_t check_queue(plan::Queue queue) const override { return device_.check_queue(queue); }
    Result<plan::Stream> stream(plan::Queue queue) const override { return device_.stream_of(queue); }
    Result<std::unique_ptr<plan::Stopwatch>> stopwatch(plan::Queue queue) const override {
        return device_.stopwatch_of(queue);
    }

    std::unique_ptr<plan::Replays> replays() const override { return replays_on(device_.stream_of); }

    error_t launch(plan::Launch const& launch) const override {
        auto const record = [this](plan::Launch const& all, plan::Recording to) { return capture(all, to); };
        if (launch.may_replay && replays_->launch(launch, record)) return {};
        auto const own = device_.stream_of(launch.queue);
        if (own.is_bad()) return own.error();
        return for_each_kernel(launch, [&](Kernel const& kernel, Pointers pointers) {
            return kernel.launch(static_cast<CUstream>(own.value()), pointers);
        });
    }

    // One node behind the other.
    error_t capture(plan::Launch const& launch, plan::Recording recording) const override {
        SDPA_GRAPH_TRY(cuda::check_is_empty(static_cast<CUgraph>(recording)));
        SDPA_GRAPH_TRY(device_.stream_of(launch.queue).error());
        CUgraphNode last = nullptr;
        return for_each_kernel(launch, [&](Kernel const& kernel, Pointers pointers) {
            auto const after = std::span<CUgraphNode const>(&last, last == nullptr ? 0 : 1);
            return kernel.add_node(static_cast<CUgraph>(recording), after, pointers).move_to(last);
        });
    }
    error_t update(plan::Launch const& launch, plan::Recording recording) const override {
        CUgraphNode last = nullptr;
        return for_each_kernel(launch, [&](Kernel const& kernel, Pointers pointers) {
            SDPA_GRAPH_TRY(cuda::node_after(static_cast<CUgraph>(recording), last).move_to(last));
            return kernel.update_node(last, pointers);
        });
    }

    error_t warm_up(plan::Queue queue) const override {
        SDPA_GRAPH_TRY(check_queue(queue));
        SDPA_GRAPH_TRY(device_.stream_of(queue).error());
        for (BoundKernel const& bound : kernels_) SDPA_GRAPH_TRY(bound.kernel->load());
        return {};
    }

    Result<std::string> serialize() const override {
        plan::BlobWriter all;
        all.number(static_cast<std::int64_t>(kernels_.size()));
        for (BoundKernel const& bound : kernels_) all.text(bound.kernel->serialize());
        return all.take();
    }
    Result<plan::ExecutableFacts> facts() const override {
        plan::ExecutableFacts facts{.device = device_.name};
        for (BoundKernel const& bound : kernels_) {
            std::string name = bound.kernel->name();
            if (std::ranges::find(facts.kernels, name) == facts.kernels.end()) facts.kernels.push_back(std::move(name));
        }
        return facts;
    }

   private:
    template <class Run>
    error_t for_each_kernel(plan::Launch const& launch, Run const& run) const {
        for (BoundKernel const& bound : kernels_) {
            plan::PointerList pointers(bound.sources.size());
            for (std::size_t i = 0; i < bound.sources.size(); ++i) {
                pointers.all()[i] = pointer_of(bound.sources[i], launch);
            }
            SDPA_GRAPH_TRY(run(*bound.kernel, pointers.all()));
        }
        return {};
    }

    std::vector<BoundKernel> kernels_;
    QueueDevice device_;
    std::int64_t workspace_size_;
    std::unique_ptr<plan::Replays> replays_;
};

// The code of each kernel.
Result<std::vector<std::string>> read_codes(std::string const& stored, std::size_t count) {
    constexpr std::size_t kNumber = 8;  // bytes; a text has one before it
    plan::BlobReader reader(stored);
    std::vector<std::string> codes;
    for (std::size_t left = reader.count(kNumber); left > 0; --left) codes.emplace_back(reader.text());
    if (reader.is_done() && codes.size() == count) return codes;
    return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                   "the stored plan of neighborhood attention is cut short or damaged; build it again");
}

}  // namespace

std::string engine_name(NeighborhoodForm form) { return std::string("neighborhood_") + to_string(form); }

NeighborhoodEngine::NeighborhoodEngine(NeighborhoodSteps steps, QueueDevice device,
                                       std::shared_ptr<plan::PackLayout const> layout,
                                       std::optional<std::string> stored)
    : steps_(std::move(steps)),
      device_(std::move(device)),
      layout_(std::move(layout)),
      stored_(std::move(stored)),
      info_{.name = engine_name(steps_.form),
            .behavior_notes = {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API},
            .workspace_bytes = steps_.workspace_bytes,
            .is_deterministic = steps_.is_deterministic()} {
    if (!info_.is_deterministic) info_.numerical_notes = {NumericalNote_t::NONDETERMINISTIC};
}

std::string NeighborhoodEngine::reason_against() const { return steps_.reason_against(device_.facts); }

Result<KernelPointer> NeighborhoodEngine::make_kernel(NeighborhoodKernelProblem const& problem,
                                                      std::string_view code) const {
    if (stored_) return load_neighborhood(problem, steps_.form, device_.facts, code);
    return compile_neighborhood(problem, steps_.form, device_.facts);
}

Result<std::shared_ptr<plan::Executable const>> NeighborhoodEngine::build() {
    std::vector<std::string> codes(steps_.steps.size());
    if (stored_) SDPA_GRAPH_TRY(read_codes(*stored_, codes.size()).move_to(codes));
    std::vector<BoundKernel> kernels;
    for (NeighborhoodStep const& step : steps_.steps) {
        BoundKernel bound;
        SDPA_GRAPH_TRY(make_kernel(step.problem, codes[kernels.size()]).move_to(bound.kernel));
        for (NeighborhoodPlace const& place : step.places) {
            auto const slot = layout_->slot_of(place.uid);
            if (!slot && !place.is_in_workspace) {
                return error_t(error_code_t::INVALID_VALUE, "runs have no pointer to the tensor of uid " +
                                                                std::to_string(place.uid) +
                                                                "; call set_output(true) on it if it is a result");
            }
            bound.sources.push_back({place.is_in_workspace, slot.value_or(0), place.offset});
        }
        kernels.push_back(std::move(bound));
    }
    return std::shared_ptr<plan::Executable const>(
        std::make_shared<NeighborhoodExecutable>(std::move(kernels), device_, steps_.workspace_bytes));
}

}  // namespace cudnn_frontend::kernels
