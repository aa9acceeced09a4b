#include "cuda/module.h"

#include "cuda/driver.h"

namespace cudnn_frontend::cuda {
namespace {

// Pointers to the arguments, as the driver needs them.
struct ArgumentPointers {
    explicit ArgumentPointers(KernelCall const& call)
        : first{const_cast<void*>(call.argument)} {}  // the driver reads only
    void* first[1];
};

// A kernel has this much shared memory on every device. More must be allowed first, on each device.
constexpr unsigned kSharedBytesOfAll = 48 << 10;

error_t allow_shared_memory(KernelCall const& call) {
    if (call.shared_bytes <= kSharedBytesOfAll) return {};
    return ask("giving shared memory to a kernel", [&](Driver const& cuda) {
        CUdevice device = 0;
        CUresult const found = cuda.device_of_context(&device);
        if (found != CUDA_SUCCESS) return found;
        return cuda.set_kernel_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(call.shared_bytes), call.kernel, device);
    });
}

CUDA_KERNEL_NODE_PARAMS node_parameters(KernelCall const& call, ArgumentPointers& arguments) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.kern = call.kernel;
    parameters.gridDimX = call.blocks;
    parameters.blockDimX = call.threads;
    parameters.sharedMemBytes = call.shared_bytes;
    parameters.gridDimY = parameters.gridDimZ = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments.first;
    return parameters;
}

}  // namespace

Result<std::shared_ptr<Module const>> Module::load(std::string_view cubin) {
    CUlibrary library = nullptr;
    SDPA_GRAPH_TRY(ask("loading a compiled kernel", [&](Driver const& cuda) {
        return cuda.load_library(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    }));
    return std::shared_ptr<Module const>(std::make_shared<Module>(library));
}

Module::~Module() {
    if (auto const found = driver(); found.is_good()) found.value()->unload_library(library_);
}

Result<CUkernel> Module::kernel(std::string const& name) const {
    CUkernel kernel = nullptr;
    SDPA_GRAPH_TRY(ask("finding a compiled kernel",
                       [&](Driver const& cuda) { return cuda.find_kernel(&kernel, library_, name.c_str()); }));
    return kernel;
}

error_t load_here(CUkernel kernel) {
    CUfunction function = nullptr;
    return ask("loading a kernel onto the GPU",
               [&](Driver const& cuda) { return cuda.function_of_kernel(&function, kernel); });
}

// The driver accepts kernels of libraries as functions, too.
error_t launch(KernelCall const& call, CUstream stream) {
    SDPA_GRAPH_TRY(allow_shared_memory(call));
    ArgumentPointers arguments(call);
    return ask("launching a kernel", [&](Driver const& cuda) {
        return enqueue_on(stream, [&] {
            return cuda.launch_kernel(reinterpret_cast<CUfunction>(call.kernel), call.blocks, 1, 1, call.threads, 1, 1,
                                      call.shared_bytes, stream, arguments.first, nullptr);
        });
    });
}

Result<CUgraphNode> add_node(KernelCall const& call, CUgraph graph, std::span<CUgraphNode const> after) {
    SDPA_GRAPH_TRY(allow_shared_memory(call));
    ArgumentPointers arguments(call);
    CUDA_KERNEL_NODE_PARAMS const parameters = node_parameters(call, arguments);
    CUgraphNode node = nullptr;
    SDPA_GRAPH_TRY(ask("adding a kernel to a CUDA graph", [&](Driver const& cuda) {
        return cuda.add_kernel_node(&node, graph, after.data(), after.size(), &parameters);
    }));
    return node;
}

error_t set_node(KernelCall const& call, CUgraphNode node) {
    SDPA_GRAPH_TRY(allow_shared_memory(call));
    ArgumentPointers arguments(call);
    CUDA_KERNEL_NODE_PARAMS const parameters = node_parameters(call, arguments);
    return ask("updating a kernel of a CUDA graph",
               [&](Driver const& cuda) { return cuda.set_kernel_node(node, &parameters); });
}

error_t set_node(KernelCall const& call, CUgraphNode node, CUgraphExec instance) {
    SDPA_GRAPH_TRY(allow_shared_memory(call));
    ArgumentPointers arguments(call);
    CUDA_KERNEL_NODE_PARAMS const parameters = node_parameters(call, arguments);
    return ask("updating a kernel of an instantiated CUDA graph",
               [&](Driver const& cuda) { return cuda.set_instance_kernel_node(instance, node, &parameters); });
}

}  // namespace cudnn_frontend::cuda
