// A place to run graphs on the GPU: a handle of cuDNN on a stream of its own.
#pragma once

#include "data/memory.h"

#include <cudnn_frontend/runtime.h>

#include <cstdint>

namespace sdpa_test {

class GpuPlace {
   public:
    GpuPlace();
    GpuPlace(GpuPlace const&) = delete;
    GpuPlace& operator=(GpuPlace const&) = delete;
    ~GpuPlace();

    cudnnHandle_t handle() const { return handle_; }
    void run(cudnn_frontend::graph::Graph const& graph, sdpa::Memories& memories) const;

   private:
    cudnnHandle_t handle_ = nullptr;
    void* stream_ = nullptr;
};

// The memory of the GPU that all processes use together.
std::int64_t used_gpu_bytes();

}  // namespace sdpa_test
