// Runs a plan on pointers.
#pragma once

#include "cudnn/library/engine_plan.h"
#include "cudnn/library/kept_pack.h"
#include "cudnn/library/lowered_graph.h"

#include <span>

namespace cudnn_frontend::cudnn {

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
