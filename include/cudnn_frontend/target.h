// The target for which a graph is planned.
#pragma once

#include "planning.h"

struct CUstream_st;  // what cudaStream_t and CUstream point to

namespace cudnn_frontend {

// A CUDA stream, null for the default one: for targets and runs without cuDNN.
class Cuda_stream {
   public:
    explicit Cuda_stream(CUstream_st* stream) : stream_(stream) {}
    CUstream_st* get() const { return stream_; }

   private:
    CUstream_st* stream_;
};

class SDPA_GRAPH_API Target {
   public:
    enum class Kind { CPU, REFERENCE, CUDA, OFFLINE, STREAM };

    // Fused attention on host memory: O(S) memory, fp32 accumulation. 0 threads: one on each CPU that the caller may
    // use.
    static Target cpu(int threads = 0);
    // Op by op on host memory with fp64 intermediates: slow and plain; the other targets are compared with it.
    static Target reference();
    // cuDNN on the device of the handle.
    static Target cuda(cudnnHandle_t handle);
    // This library's own kernels on the stream's device, without cuDNN: neighborhood attention, and on Hopper
    // attention. Runs pass a Cuda_stream too.
    static Target cuda(Cuda_stream stream);
    // Real cuDNN for a device that need not be present: plans can be built, inspected and stored, but not run. For
    // processes that do not use a GPU otherwise. A name is one of DeviceProperties::names().
    static Target offline(std::string const& device);
    static Target offline(std::shared_ptr<DeviceProperties const> device);

    Kind kind() const { return kind_; }
    int threads() const { return threads_; }
    cudnnHandle_t handle() const { return handle_; }
    Cuda_stream stream() const { return stream_; }
    std::shared_ptr<DeviceProperties const> const& device() const { return device_; }

   private:
    Target(Kind kind, int threads, cudnnHandle_t handle);

    Kind kind_;
    int threads_;
    cudnnHandle_t handle_;
    Cuda_stream stream_{nullptr};
    std::shared_ptr<DeviceProperties const> device_;
};

SDPA_GRAPH_API char const* to_string(Target::Kind kind);

// Whether graphs for such targets run on the host, in its memory.
inline bool runs_on_host(Target::Kind kind) { return kind == Target::Kind::CPU || kind == Target::Kind::REFERENCE; }

}  // namespace cudnn_frontend
