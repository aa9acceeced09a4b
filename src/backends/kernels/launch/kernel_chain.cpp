#include "kernels/launch/kernel_chain.h"

#include "cuda/cuda_graph.h"
#include "kernels/launch/recorded_steps.h"
#include "kernels/launch/stream_device.h"
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

// The sources of the kernel's pointers are shared by chains for other shapes.
struct BoundKernel {
    KernelPointer kernel;
    std::shared_ptr<std::vector<BoundPointer> const> sources;
};

using DevicePointer = std::shared_ptr<QueueDevice const>;
using LayoutPointer = std::shared_ptr<plan::PackLayout const>;

class ChainExecutable final : public plan::Executable {
   public:
    using Resize = decltype(KernelChain::resized);

    // Without `resized` it serves the shapes of its graph alone.
    ChainExecutable(std::vector<BoundKernel> kernels, std::int64_t workspace_size, Resize resized, DevicePointer device,
                    LayoutPointer layout)
        : kernels_(std::move(kernels)),
          device_(std::move(device)),
          layout_(std::move(layout)),
          workspace_size_(workspace_size),
          resized_(std::move(resized)),
          has_device_memory_alone_(std::ranges::none_of(layout_->slots, &plan::Slot::is_on_host)),
          replays_(replays()) {}

    std::int64_t workspace_size() const override { return workspace_size_; }
    error_t check_queue(plan::Queue queue) const override { return device_->check_queue(queue); }
    Result<plan::Stream> stream(plan::Queue queue) const override { return device_->stream_of(queue); }
    Result<std::unique_ptr<plan::Stopwatch>> stopwatch(plan::Queue queue) const override {
        return device_->stopwatch_of(queue);
    }

    // A replay would not look at numbers in the host's memory.
    std::unique_ptr<plan::Replays> replays() const override {
        return has_device_memory_alone_ ? replays_on(device_->stream_of) : nullptr;
    }

    error_t launch(plan::Launch const& launch) const override {
        auto const record = [this](plan::Launch const& all, plan::Recording to) { return capture(all, to); };
        if (launch.may_replay && replays_ != nullptr && replays_->launch(launch, record)) return {};
        auto const own = device_->stream_of(launch.queue);
        if (own.is_bad()) return own.error();
        return for_each_kernel(launch, [&](Kernel const& kernel, Pointers pointers) {
            return kernel.launch(static_cast<CUstream>(own.value()), pointers);
        });
    }

    // One node behind the other.
    error_t capture(plan::Launch const& launch, plan::Recording recording) const override {
        SDPA_GRAPH_TRY(cuda::check_is_empty(static_cast<CUgraph>(recording)));
        SDPA_GRAPH_TRY(device_->stream_of(launch.queue).error());
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

    Result<std::unique_ptr<plan::RecordedSteps>> steps_of(plan::Recording recording) const override {
        return std::unique_ptr<plan::RecordedSteps>(std::make_unique<GraphSteps>(static_cast<CUgraph>(recording)));
    }
    error_t record_run(plan::Queue queue, plan::Recording recording,
                       std::function<error_t()> const& run) const override {
        auto const own = device_->stream_of(queue);
        if (own.is_bad()) return own.error();
        return cuda::record_run(static_cast<CUstream>(own.value()), static_cast<CUgraph>(recording), run);
    }

    error_t warm_up(plan::Queue queue) const override {
        SDPA_GRAPH_TRY(check_queue(queue));
        SDPA_GRAPH_TRY(device_->stream_of(queue).error());
        for (BoundKernel const& bound : kernels_) SDPA_GRAPH_TRY(bound.kernel->load());
        return {};
    }

    Result<std::shared_ptr<plan::Executable const>> resized(plan::TensorShapes shapes) const override {
        if (!resized_) return plan::Executable::resized(shapes);
        std::vector<KernelPointer> kernels;
        for (BoundKernel const& bound : kernels_) kernels.push_back(bound.kernel);
        auto others = resized_(shapes, kernels);
        if (others.is_bad()) return others.error();
        std::vector<BoundKernel> all = kernels_;
        for (std::size_t i = 0; i < all.size(); ++i) all[i].kernel = std::move(others.value().kernels[i]);
        return std::shared_ptr<plan::Executable const>(std::make_shared<ChainExecutable>(
            std::move(all), others.value().workspace_bytes, nullptr, device_, layout_));
    }

    Result<std::string> serialize() const override {
        plan::BlobWriter all;
        all.number(static_cast<std::int64_t>(kernels_.size()));
        for (BoundKernel const& bound : kernels_) all.text(bound.kernel->serialize());
        return all.take();
    }
    Result<plan::ExecutableFacts> facts() const override {
        plan::ExecutableFacts facts{.device = device_->name};
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
            std::vector<BoundPointer> const& sources = *bound.sources;
            plan::PointerList pointers(sources.size());
            for (std::size_t i = 0; i < sources.size(); ++i) pointers.all()[i] = pointer_of(sources[i], launch);
            SDPA_GRAPH_TRY(run(*bound.kernel, pointers.all()));
        }
        return {};
    }

    std::vector<BoundKernel> kernels_;
    DevicePointer device_;
    LayoutPointer layout_;
    std::int64_t workspace_size_;
    Resize resized_;
    bool has_device_memory_alone_;
    std::unique_ptr<plan::Replays> replays_;
};

// The code of each kernel.
Result<std::vector<std::string>> read_codes(std::string const& engine, std::string const& stored, std::size_t count) {
    constexpr std::size_t kNumber = 8;  // bytes; a text has one before it
    plan::BlobReader reader(stored);
    std::vector<std::string> codes;
    for (std::size_t left = reader.count(kNumber); left > 0; --left) codes.emplace_back(reader.text());
    if (reader.is_done() && codes.size() == count) return codes;
    return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                   "the stored plan of the engine '" + engine + "' is cut short or damaged; build it again");
}

Result<BoundPointer> bound_pointer(KernelPlace const& place, plan::PackLayout const& layout) {
    auto const slot = place.is_in_workspace ? std::nullopt : layout.slot_of(place.uid);
    if (slot || place.is_in_workspace) return BoundPointer{place.is_in_workspace, slot.value_or(0), place.offset};
    return error_t(error_code_t::INVALID_VALUE, "runs have no pointer to the tensor of uid " +
                                                    std::to_string(place.uid) +
                                                    "; call set_output(true) on it if it is a result");
}

// The executable of a chain, from the code of each kernel or, without any, compiled.
Result<std::shared_ptr<plan::Executable const>> build_chain(KernelChain const& chain, DevicePointer const& device,
                                                            LayoutPointer const& layout,
                                                            std::vector<std::string> const& codes) {
    std::vector<BoundKernel> kernels;
    for (ChainedKernel const& chained : chain.kernels) {
        std::optional<std::string_view> code;
        if (!codes.empty()) code = codes[kernels.size()];
        KernelPointer kernel;
        SDPA_GRAPH_TRY(chained.make(code).move_to(kernel));
        std::vector<BoundPointer> sources;
        for (KernelPlace const& place : chained.places) {
            SDPA_GRAPH_TRY(bound_pointer(place, *layout).move_to(sources.emplace_back()));
        }
        kernels.push_back({std::move(kernel), std::make_shared<std::vector<BoundPointer> const>(std::move(sources))});
    }
    return std::shared_ptr<plan::Executable const>(std::make_shared<ChainExecutable>(
        std::move(kernels), chain.info.workspace_bytes, chain.resized, device, layout));
}

}  // namespace

Result<std::shared_ptr<plan::Executable const>> ChainEngine::build() {
    std::vector<std::string> codes;
    if (stored_) SDPA_GRAPH_TRY(read_codes(chain_.info.name, *stored_, chain_.kernels.size()).move_to(codes));
    return build_chain(chain_, device_, layout_, codes);
}

}  // namespace cudnn_frontend::kernels
