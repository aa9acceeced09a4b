// The samples' GPU: a cuDNN handle on its own stream, memory, and runs on copies of host memory. Without a GPU a
// program exits with 77, which test drivers count as skipped.
#pragma once

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

#if SAMPLES_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace samples {

namespace fe = cudnn_frontend;

[[noreturn]] inline void skip(char const* reason) {
    std::printf("skipped: %s\n", reason);
    std::exit(77);
}

// Ends the program with the error's text if a call failed.
inline void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "error: %s\n", status.get_message().c_str());
    std::exit(1);
}

#if SAMPLES_HAVE_CUDA

inline void require(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "error: CUDA: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

// Copies, and waits until the bytes have arrived: cudaMemcpy() may return earlier, and a stream that does not wait for
// the default one would read old bytes.
inline void copy_to_gpu(void* to, void const* from, std::size_t bytes) {
    require(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    require(cudaStreamSynchronize(cudaStreamLegacy));
}

inline bool has_gpu() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

class Gpu {
   public:
    Gpu() {
        if (!has_gpu()) skip("there is no GPU here");
        require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        require(fe::runtime::create_handle(&handle_));
        require(fe::runtime::set_stream(handle_, stream_));
    }
    Gpu(Gpu const&) = delete;
    Gpu& operator=(Gpu const&) = delete;
    ~Gpu() {
        if (fe::runtime::destroy_handle(handle_).is_bad()) std::fprintf(stderr, "the handle could not be destroyed\n");
        cudaStreamDestroy(stream_);
    }

    cudnnHandle_t handle() const { return handle_; }
    cudaStream_t stream() const { return stream_; }
    void wait() const { require(cudaStreamSynchronize(stream_)); }

   private:
    cudaStream_t stream_ = nullptr;
    cudnnHandle_t handle_ = nullptr;
};

// An array in GPU memory.
template <class T>
class GpuArray {
   public:
    explicit GpuArray(std::size_t size) : size_(size) {
        if (size > 0) require(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
    }
    explicit GpuArray(std::vector<T> const& host) : GpuArray(host.size()) {
        copy_to_gpu(data_, host.data(), host.size() * sizeof(T));
    }
    GpuArray(GpuArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
    ~GpuArray() { cudaFree(data_); }

    T* data() const { return data_; }
    void clear() {
        require(cudaMemset(data_, 0, size_ * sizeof(T)));
        require(cudaStreamSynchronize(cudaStreamLegacy));
    }
    std::vector<T> to_host() const {
        std::vector<T> host(size_);
        require(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

   private:
    T* data_ = nullptr;
    std::size_t size_;
};

inline fe::Target gpu_target() {
    static Gpu const gpu;
    return fe::Target::cuda(gpu.handle());
}

// The GPU copy of a host array for one run.
struct Mirror {
    char* host;
    std::size_t bytes;
    GpuArray<char> device;

    Mirror(void* from, std::size_t size) : host(static_cast<char*>(from)), bytes(size), device(size) {
        copy_to_gpu(device.data(), host, bytes);
    }
    void copy_back() const { require(cudaMemcpy(host, device.data(), bytes, cudaMemcpyDeviceToHost)); }
};

inline std::size_t size_of(fe::DataType_t type) {
    if (type == fe::DataType_t::FP8_E4M3 || type == fe::DataType_t::FP8_E5M2) return 1;
    return type == fe::DataType_t::INT64 ? 8 : type == fe::DataType_t::FLOAT || type == fe::DataType_t::INT32 ? 4 : 2;
}

// Where the last sequence of a ragged tensor ends: the last of its offsets.
inline std::int64_t end_of(fe::graph::Tensor_attributes const& offset, void const* host) {
    auto const last = static_cast<std::size_t>(offset.get_dim()[0] - 1);
    return offset.get_data_type() == fe::DataType_t::INT64 ? static_cast<std::int64_t const*>(host)[last]
                                                           : static_cast<std::int32_t const*>(host)[last];
}

inline std::size_t bytes_of(fe::graph::Tensor_attributes const& tensor,
                            std::unordered_map<std::int64_t, void*> const& pack) {
    if (auto const offset = tensor.get_ragged_offset()) {
        return static_cast<std::size_t>(end_of(*offset, pack.at(offset->get_uid()))) * size_of(tensor.get_data_type());
    }
    std::int64_t last = 0;
    for (std::size_t i = 0; i < tensor.get_dim().size(); ++i)
        last += (tensor.get_dim()[i] - 1) * tensor.get_stride()[i];
    return static_cast<std::size_t>(last + 1) * size_of(tensor.get_data_type());
}

// A built graph with GPU copies of its host arrays.
class GpuRun {
   public:
    GpuRun(fe::graph::Graph const& graph, std::unordered_map<std::int64_t, void*> const& host)
        : graph_(graph), pack_(host), workspace_(static_cast<std::size_t>(graph.get_workspace_size())) {
        for (std::int64_t const uid : graph.get_variant_pack_uids_sorted()) {
            fe::graph::Tensor_attributes tensor;
            require(graph.query_tensor_attributes_of_uid(uid, tensor));
            if (tensor.get_is_pass_by_value()) continue;
            mirrors_.emplace_back(host.at(uid), bytes_of(tensor, host));
            pack_[uid] = mirrors_.back().device.data();
        }
    }

    void execute() {
        require(graph_.execute(gpu_target().handle(), pack_, workspace_.data()));
        require(cudaDeviceSynchronize());
    }
    void copy_back() const {
        for (Mirror const& mirror : mirrors_) mirror.copy_back();
    }

   private:
    fe::graph::Graph const& graph_;
    std::unordered_map<std::int64_t, void*> pack_;
    std::vector<Mirror> mirrors_;
    GpuArray<char> workspace_;
};

#else

inline bool has_gpu() { return false; }
inline fe::Target gpu_target() { skip("the samples were built without the CUDA toolkit"); }

class GpuRun {
   public:
    GpuRun(fe::graph::Graph const&, std::unordered_map<std::int64_t, void*> const&) {}
    void execute() {}
    void copy_back() const {}
};

#endif

}  // namespace samples
