#include "pipeline/with_cudnn/cudnn_plan.h"

#include "cpu/indices.h"
#include "cuda/driver.h"
#include "cudnn/library/backend_enums.h"
#include "cudnn/library/execution.h"
#include "cudnn/library/status.h"
#include "pipeline/with_cudnn/plan_text.h"

#include <algorithm>

namespace cudnn_frontend::pipeline {

// Enough to average over, few enough for plans of seconds.
static constexpr int kTimedRuns = 10;

CandidateInfo info_of(cudnn::EngineConfig const& config, CudnnContext const& context) {
    auto const& notes = config.numerical_notes;
    bool const is_noted = std::find(notes.begin(), notes.end(), NumericalNote_t::NONDETERMINISTIC) != notes.end();
    CandidateInfo info{.name = config.name,
                       .engine = config.choice.engine,
                       .behavior_notes = config.behavior_notes,
                       .numerical_notes = notes,
                       .shared_memory_bytes = config.shared_memory_bytes,
                       .is_deterministic = context.is_deterministic && !is_noted};
    for (cudnn::KnobChoice const& choice : config.choice.knobs) {
        info.knobs.emplace_back(cudnn::from_backend(choice.knob), choice.value);
    }
    return info;
}

CudnnPlan::CudnnPlan(std::shared_ptr<CudnnContext const> context, std::shared_ptr<cudnn::EnginePlan const> engine)
    : context_(std::move(context)),
      engine_(std::move(engine)),
      info_(info_of(engine_->config(), *context_)),
      may_keep_pack_(std::ranges::none_of(context_->layout.slots, &Slot::is_on_host)) {}

std::int64_t CudnnPlan::workspace_size() const { return context_->bindings.scratch_bytes + engine_->workspace_bytes(); }

template <class Call>
error_t CudnnPlan::with_memory(Run const& run, Call call) const {
    if (!context_->device.is_live) {
        return {error_code_t::GRAPH_EXECUTION_FAILED,
                "the plan was made offline for " + context_->device.device->name() +
                    ", which is not here; serialize() it and deserialize() it on a machine with that GPU"};
    }
    if (run.handle == nullptr) {
        return {error_code_t::HANDLE_ERROR, "the cuDNN handle is null; pass one that cudnnCreate() made"};
    }
    PointerList pointers(slots().size());
    SDPA_GRAPH_TRY(resolve(run.pack, context_->layout, pointers.all()));
    SDPA_GRAPH_TRY(check_alignment(slots(), pointers.all()));
    SDPA_GRAPH_TRY(check_factors(slots(), pointers.all(), HostMemory::ScalarsByValue));
    SDPA_GRAPH_TRY(check_workspace(*this, run));
    cudnn::RunMemory memory{.caller = pointers.all(), .tables = {}, .workspace = run.workspace};
    if (context_->tables) memory.tables = context_->tables->pointers;
    return call(memory);
}

static Result<cudaStream_t> stream_of(CudnnContext const& context, cudnnHandle_t handle) {
    cudaStream_t stream = nullptr;
    cudnn::Api const& api = *context.device.api;
    if (cudnnStatus_t const status = api.get_stream(handle, &stream); status != CUDNN_STATUS_SUCCESS) {
        return cudnn::backend_error(api, status, "asking the handle for its stream", error_code_t::HANDLE_ERROR);
    }
    return stream;
}

// Those in the GPU's memory too.
static error_t check_all_factors(std::vector<Slot> const& slots, std::span<void* const> pointers) {
    std::vector<float> factors(slots.size());
    std::vector<void*> readable(pointers.begin(), pointers.end());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (!slots[i].is_factor || slots[i].is_on_host) continue;
        SDPA_GRAPH_TRY(cuda::download(std::as_writable_bytes(std::span(&factors[i], 1)), pointers[i]));
        readable[i] = &factors[i];
    }
    return check_factors(slots, readable, HostMemory::All);
}

// A stream that is captured runs nothing now that could be waited for.
error_t CudnnPlan::check_contents(Run const& run, std::span<void* const> pointers) const {
    if (!context_->checked_graph) return {};
    auto const stream = stream_of(*context_, run.handle);
    if (stream.is_bad()) return stream.error();
    SDPA_GRAPH_TRY(cuda::use_device(context_->device.device->ordinal()));
    auto const is_captured = cuda::is_capturing(stream.value());
    if (is_captured.is_bad() || is_captured.value()) return is_captured.error();
    SDPA_GRAPH_TRY(cuda::wait_for(stream.value()));
    SDPA_GRAPH_TRY(check_all_factors(slots(), pointers));
    return cpu::check_indices_elsewhere(*context_->checked_graph, pointers, cuda::download);
}

error_t CudnnPlan::execute(Run const& run) const {
    return with_memory(run, [&](cudnn::RunMemory const& memory) -> error_t {
        SDPA_GRAPH_TRY(check_overlap(slots(), memory.caller));
        SDPA_GRAPH_TRY(check_contents(run, memory.caller));
        return cudnn::execute(run.handle, *engine_, context_->bindings, memory, may_keep_pack_ ? &last_pack_ : nullptr);
    });
}

error_t CudnnPlan::populate(Run const& run, CUgraph_st* graph, bool checks_overlap) const {
    return with_memory(run, [&](cudnn::RunMemory const& memory) -> error_t {
        if (checks_overlap) SDPA_GRAPH_TRY(check_overlap(slots(), memory.caller));
        return cudnn::populate_cuda_graph(run.handle, *engine_, context_->bindings, memory, graph);
    });
}

error_t CudnnPlan::populate_cuda_graph(Run const& run, CUgraph_st* graph) const {
    if (graph == nullptr) return {error_code_t::INVALID_VALUE, "the CUDA graph is null; pass one of cudaGraphCreate()"};
    auto const nodes = cuda::node_count(graph);
    if (nodes.is_bad()) return nodes.error();
    if (nodes.value() != 0) {
        return {error_code_t::INVALID_VALUE, "the CUDA graph has " + std::to_string(nodes.value()) +
                                                 " nodes; populate_cuda_graph() needs an empty one"};
    }
    return populate(run, graph, true);
}

error_t CudnnPlan::update_cuda_graph(Run const& run, CUgraph_st* graph) const {
    if (graph == nullptr) return {error_code_t::INVALID_VALUE, "the CUDA graph is null; pass the populated one"};
    return with_memory(run, [&](cudnn::RunMemory const& memory) -> error_t {
        SDPA_GRAPH_TRY(check_overlap(slots(), memory.caller));
        return cudnn::update_cuda_graph(run.handle, *engine_, context_->bindings, memory, graph);
    });
}

// Filling a throw-away CUDA graph loads the kernels without running them: one piece of memory does for all tensors.
error_t CudnnPlan::warm_up(cudnnHandle_t handle) const {
    SDPA_GRAPH_TRY(cuda::use_device(context_->device.device->ordinal()));
    auto const memory = cuda::allocate(static_cast<std::size_t>(workspace_size()) + 4096);
    if (memory.is_bad()) return memory.error();
    std::uint64_t scalar = detail::make_scalar(1.0f).bits;  // nothing is computed from it
    std::vector<void*> pointers;
    for (Slot const& slot : slots()) {
        pointers.push_back(slot.is_on_host ? static_cast<void*>(&scalar) : memory.value()->pointer());
    }
    SortedPack const pack(slots(), pointers.data());
    auto const graph = cuda::make_cuda_graph();
    if (graph.is_bad()) return graph.error();
    return populate({handle, Variant_pack::of(pack), memory.value()->pointer(), workspace_size()}, graph.value()->graph,
                    false);
}

Result<double> CudnnPlan::time(Run const& run) const {
    SDPA_GRAPH_TRY(execute(run));  // loads the kernels
    auto const stream = stream_of(*context_, run.handle);
    if (stream.is_bad()) return stream.error();
    auto const clock = cuda::StreamClock::make(stream.value());
    if (clock.is_bad()) return clock.error();
    SDPA_GRAPH_TRY(clock.value()->start());
    for (int i = 0; i < kTimedRuns; ++i) SDPA_GRAPH_TRY(execute(run));
    auto const microseconds = clock.value()->stop();
    if (microseconds.is_bad()) return microseconds.error();
    return microseconds.value() / kTimedRuns;
}

Result<std::string> CudnnPlan::serialize() const {
    auto const plan = engine_->serialize();
    if (plan.is_bad()) return plan.error();
    return write_plan({.cudnn_version = context_->device.api->get_version(),
                       .choice = engine_->config().choice,
                       .dynamic_shapes = context_->dynamic_shapes,
                       .device = context_->device.device->json(),
                       .bindings = context_->bindings,
                       .engine_plan = plan.value()});
}

}  // namespace cudnn_frontend::pipeline
