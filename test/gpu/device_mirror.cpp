#include "gpu/device_mirror.h"

#include <cudnn_frontend/runtime.h>

namespace sdpa_test {

using cudnn_frontend::error_code_t;
namespace runtime = cudnn_frontend::runtime;

error_t to_error(cudaError_t status, char const* what) {
    if (status == cudaSuccess) return {};
    return {error_code_t::CUDA_API_FAILED, std::string(what) + ": " + cudaGetErrorString(status)};
}

void poison(void* address, std::int64_t bytes) {
    cudaMemset(address, 0xFF, static_cast<std::size_t>(bytes));
    cudaStreamSynchronize(cudaStreamLegacy);
}

GpuStream::GpuStream() {
    status_ = to_error(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    if (status_.is_good()) status_ = runtime::create_handle(&handle_);
    if (status_.is_good()) status_ = runtime::set_stream(handle_, stream_);
}

GpuStream::~GpuStream() {
    if (handle_ != nullptr) static_cast<void>(runtime::destroy_handle(handle_));
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

error_t GpuStream::wait() const { return to_error(cudaStreamSynchronize(stream_), "waiting for the stream"); }

DeviceMirror::~DeviceMirror() {
    for (auto const& [host, copy] : copies_) cudaFree(copy.allocation);
}

// Copies, and waits until the bytes are there: streams that do not wait for the default one read them next.
static cudaError_t copy_to_device(void* to, void const* from, std::size_t bytes) {
    cudaError_t const status = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return status == cudaSuccess ? cudaStreamSynchronize(cudaStreamLegacy) : status;
}

// The copy starts at the same place between multiples of 256 bytes as the original, so that both have one alignment.
DeviceMirror::Copy const* DeviceMirror::copy_of(HostMemory const& memory) {
    auto const known = copies_.find(&memory);
    if (known != copies_.end()) return &known->second;
    constexpr std::size_t kAlignment = 256;
    std::size_t const shift = reinterpret_cast<std::uintptr_t>(memory.first()) % kAlignment;
    std::byte* allocation = nullptr;
    if (status_.is_good()) {
        status_ =
            to_error(cudaMalloc(reinterpret_cast<void**>(&allocation), memory.extent() + kAlignment), "cudaMalloc");
    }
    if (status_.is_bad()) return nullptr;
    Copy const copy{&memory, allocation, allocation + shift};
    status_ = to_error(copy_to_device(copy.device, memory.first(), memory.extent()), "copying");
    return &copies_.emplace(&memory, copy).first->second;
}

void* DeviceMirror::address(HostTensor const& tensor) {
    Copy const* const copy = copy_of(*tensor.memory);
    return copy == nullptr ? nullptr : copy->device + (tensor.data() - tensor.memory->first());
}

void* DeviceMirror::address(HostMemory const& memory) {
    Copy const* const copy = copy_of(memory);
    return copy == nullptr ? nullptr : copy->device + (memory.data() - memory.first());
}

error_t DeviceMirror::copy_back() {
    for (auto const& [host, copy] : copies_) {
        if (status_.is_bad()) return status_;
        auto* const first = const_cast<std::byte*>(copy.host->first());
        status_ = to_error(cudaMemcpy(first, copy.device, copy.host->extent(), cudaMemcpyDeviceToHost), "copying back");
    }
    return status_;
}

std::map<std::int64_t, void*> device_pack(Session const& session, DeviceMirror& mirror) {
    std::map<std::int64_t, void*> pack;
    for (Session::Entry const& entry : session.entries()) {
        bool const is_on_host = entry.tensor->get_is_pass_by_value();
        pack[entry.tensor->get_uid()] = is_on_host ? entry.memory.data() : mirror.address(entry.memory);
    }
    return pack;
}

error_t execute_on_gpu(Session const& session, GpuStream const& gpu) {
    return execute_graph_on_gpu(session.graph(), session, gpu);
}

error_t execute_graph_on_gpu(Graph const& graph, Session const& session, GpuStream const& gpu, RunOn queue) {
    DeviceMirror mirror;
    auto const pack = device_pack(session, mirror);
    return execute_in_mirror(graph, pack, mirror, gpu, queue);
}

namespace {

// A CUDA graph of a run. Launches have to be done before it goes.
class RecordedRun {
   public:
    RecordedRun() = default;
    RecordedRun(RecordedRun const&) = delete;
    RecordedRun& operator=(RecordedRun const&) = delete;
    ~RecordedRun() {
        if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
        if (graph_ != nullptr) cudaGraphDestroy(graph_);
    }

    // Recording changes a graph, so that a copy does it.
    error_t record(Graph graph, std::map<std::int64_t, void*> const& pack, void* workspace, GpuStream const& gpu) {
        if (error_t error = to_error(cudaGraphCreate(&graph_, 0), "making a CUDA graph"); error.is_bad()) return error;
        error_t const failure = graph.populate_cuda_graph(gpu.handle(), pack, workspace, graph_);
        return failure.is_bad() ? failure
                                : to_error(cudaGraphInstantiate(&instance_, graph_, 0), "instantiating a CUDA graph");
    }
    error_t launch(GpuStream const& gpu) {
        return to_error(cudaGraphLaunch(instance_, gpu.stream()), "launching a CUDA graph");
    }

   private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t instance_ = nullptr;
};

}  // namespace

error_t execute_in_mirror(Graph const& graph, std::map<std::int64_t, void*> const& pack, DeviceMirror& mirror,
                          GpuStream const& gpu, RunOn queue, std::function<error_t()> const& wait) {
    HostMemory const workspace(graph.get_workspace_size());
    DeviceMirror own;  // the caller's keeps no memory that ends with this run
    void* const begin = workspace.size() > 0 ? own.address(workspace) : nullptr;
    for (DeviceMirror const* const each : {&mirror, &own}) {
        if (each->status().is_bad()) return each->status();
    }
    RecordedRun recorded;
    error_t failure;
    switch (queue) {
        case RunOn::Handle: failure = graph.execute(gpu.handle(), pack, begin); break;
        case RunOn::Stream: failure = graph.execute(cudnn_frontend::Cuda_stream(gpu.stream()), pack, begin); break;
        case RunOn::Recording:
            failure = recorded.record(graph, pack, begin, gpu);
            for (int launch = 0; launch < 2 && failure.is_good(); ++launch) failure = recorded.launch(gpu);
            break;
    }
    if (failure.is_bad()) return failure;
    if (error_t const error = wait ? wait() : gpu.wait(); error.is_bad()) return error;
    for (DeviceMirror* const each : {&mirror, &own}) {
        if (error_t const error = each->copy_back(); error.is_bad()) return error;
    }
    if (workspace.guards_intact()) return {};
    return {error_code_t::GRAPH_EXECUTION_FAILED,
            "wrote outside its workspace of " + std::to_string(workspace.size()) + " bytes"};
}

}  // namespace sdpa_test
