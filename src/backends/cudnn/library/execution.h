// Runs a plan on pointers.
#pragma once

#include "cudnn/library/descriptor.h"
#include "cudnn/library/engine_plan.h"
#include "cudnn/library/lowered_graph.h"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace cudnn_frontend::cudnn {

// The pack of a plan's last run is kept because programs mostly run a plan on the same memory again: then the addresses
// need not be passed to cuDNN again.

// The addresses of one run, and cuDNN's descriptor of them.
struct ReadyPack {
    std::vector<void*> pointers;
    void* workspace = nullptr;
    Descriptor descriptor;
};

// Holds at most one pack. Threads that run the plan at once do not share it: the second makes its own.
class KeptPack {
   public:
    KeptPack() = default;
    KeptPack(KeptPack const&) = delete;
    KeptPack& operator=(KeptPack const&) = delete;
    ~KeptPack() { delete pack_.load(); }

    // Null if there is none, or another thread is using it.
    std::unique_ptr<ReadyPack> take() { return std::unique_ptr<ReadyPack>(pack_.exchange(nullptr)); }
    void keep(std::unique_ptr<ReadyPack> pack) { delete pack_.exchange(pack.release()); }

   private:
    std::atomic<ReadyPack*> pack_{nullptr};
};

// The pointers for each source of a binding. `workspace` is the whole workspace: scratch memory, then the engine's.
struct RunMemory {
    std::span<void* const> caller;  // by binding of the op graph
    std::span<void* const> tables;  // device memory of each table
    void* workspace = nullptr;
};

// Must not be given a kept pack if the host reads memory of the caller's:
// its values may change under the same address.
error_t execute(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings, RunMemory const& memory,
                KeptPack* kept);

// Adds the plan's work to an empty CUDA graph; update binds the nodes of such a graph to other memory.
error_t populate_cuda_graph(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings,
                            RunMemory const& memory, cudaGraph_t graph);
error_t update_cuda_graph(cudnnHandle_t handle, EnginePlan const& plan, Bindings const& bindings,
                          RunMemory const& memory, cudaGraph_t graph);

}  // namespace cudnn_frontend::cudnn
