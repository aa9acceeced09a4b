// Where a graph is planned for.
#pragma once

#include "export.h"

struct cudnnContext;
typedef struct cudnnContext* cudnnHandle_t;

namespace cudnn_frontend {
inline namespace v1 {

class SDPA_GRAPH_API Target {
   public:
    enum class Kind { CPU, REFERENCE, CUDA };

    // Fused attention on host memory: O(S) memory, fp32 accumulation. No thread count means one for each core.
    static Target cpu(int threads = 0);
    // Op by op on host memory with fp64 intermediates: slow, plain, the measure of the others.
    static Target reference();
    // cuDNN on the device of the handle.
    static Target cuda(cudnnHandle_t handle);

    Kind kind() const { return kind_; }
    int threads() const { return threads_; }
    cudnnHandle_t handle() const { return handle_; }

   private:
    Target(Kind kind, int threads, cudnnHandle_t handle);

    Kind kind_;
    int threads_;
    cudnnHandle_t handle_;
};

SDPA_GRAPH_API char const* to_string(Target::Kind kind);

}  // namespace v1
}  // namespace cudnn_frontend
