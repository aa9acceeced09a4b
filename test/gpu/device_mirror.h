// Host memory on the GPU for one run: the same bytes, guards included, go there and come back, so that every check of
// host runs holds for GPU runs too.
#pragma once

#include "reference/checks/session.h"

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <vector>

namespace sdpa_test {

error_t to_error(cudaError_t status, char const* what);

// Fills GPU memory with the byte 0xFF, NaN in floats, and waits: streams that do not wait for the default one use it
// next.
void poison(void* address, std::int64_t bytes);

// A cuDNN handle on a stream of its own, which is not the default one.
class GpuStream {
   public:
    GpuStream();
    ~GpuStream();
    GpuStream(GpuStream const&) = delete;
    GpuStream& operator=(GpuStream const&) = delete;

    error_t const& status() const { return status_; }  // of making it
    cudnnHandle_t handle() const { return handle_; }
    cudaStream_t stream() const { return stream_; }
    error_t wait() const;

   private:
    error_t status_;
    cudnnHandle_t handle_ = nullptr;
    cudaStream_t stream_ = nullptr;
};

class DeviceMirror {
   public:
    ~DeviceMirror();
    // The address on the GPU of an address of the memory; copies the memory there the first time. Null on failure.
    void* address(HostTensor const& tensor);
    void* address(HostMemory const& memory);
    error_t copy_back();
    error_t const& status() const { return status_; }

   private:
    struct Copy {
        HostMemory const* host;
        std::byte* allocation;
        std::byte* device;
    };
    Copy const* copy_of(HostMemory const& memory);

    std::map<HostMemory const*, Copy> copies_;
    error_t status_;
};

// Every tensor of a session on the GPU, as the pack that its graph needs.
std::map<std::int64_t, void*> device_pack(Session const& session, DeviceMirror& mirror);

// Runs a built graph on the content of the mirror, with a workspace of exactly the promised size between guards, and
// brings the results back. Waits for the stream, unless another way is given. A recording of a run is launched twice.
enum class RunOn { Handle, Stream, Recording };
error_t execute_in_mirror(Graph const& graph, std::map<std::int64_t, void*> const& pack, DeviceMirror& mirror,
                          GpuStream const& gpu, RunOn queue = RunOn::Handle, std::function<error_t()> const& wait = {});
// Runs a built session.
error_t execute_on_gpu(Session const& session, GpuStream const& gpu);
// The same by another built graph with the session's tensors.
error_t execute_graph_on_gpu(Graph const& graph, Session const& session, GpuStream const& gpu,
                             RunOn queue = RunOn::Handle);

}  // namespace sdpa_test
