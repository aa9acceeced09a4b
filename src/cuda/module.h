// Compiled kernels on the GPU: loading them, launching them, and adding them to CUDA graphs as nodes.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cudnn_frontend::cuda {

// Belongs to no context: the driver loads the code into each one that launches from it, the first time.
class Module {
   public:
    static Result<std::shared_ptr<Module const>> load(std::string_view cubin);
    explicit Module(CUlibrary library) : library_(library) {}
    Module(Module const&) = delete;
    Module& operator=(Module const&) = delete;
    ~Module();

    Result<CUkernel> kernel(std::string const& name) const;

   private:
    CUlibrary library_;
};

// A launch without its stream. Kernels have one argument, a struct, by value.
struct KernelCall {
    CUkernel kernel = nullptr;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    void const* argument = nullptr;
};

// Loads into the thread's current context everything that the first launch there would load.
error_t load_here(CUkernel kernel);

// Launches in the stream's context; on the default stream in the thread's.
error_t launch(KernelCall const& call, CUstream stream);

// Adds the call to a graph, after other nodes.
Result<CUgraphNode> add_node(KernelCall const& call, CUgraph graph, std::span<CUgraphNode const> after);
// Replaces the node's call by this one, in its graph or in a graph that was instantiated from it.
error_t set_node(KernelCall const& call, CUgraphNode node);
error_t set_node(KernelCall const& call, CUgraphNode node, CUgraphExec instance);

}  // namespace cudnn_frontend::cuda
