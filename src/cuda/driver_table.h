// The functions of libcuda that this library calls, as a table.
#pragma once

#include "core/result.h"

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cudnn_frontend::cuda {

// Lives as long as the process, like libcuda once it is opened.
struct Driver {
    decltype(&cuInit) init = nullptr;
    decltype(&cuDriverGetVersion) get_version = nullptr;
    decltype(&cuGetErrorName) error_name = nullptr;
    decltype(&cuGetErrorString) error_text = nullptr;

    decltype(&cuDeviceGetCount) device_count = nullptr;
    decltype(&cuDeviceGetName) device_name = nullptr;
    decltype(&cuDeviceGetAttribute) device_attribute = nullptr;

    decltype(&cuCtxGetCurrent) current_context = nullptr;
    decltype(&cuCtxSetCurrent) set_current_context = nullptr;
    decltype(&cuCtxGetDevice) device_of_context = nullptr;
    decltype(&cuCtxSynchronize) wait_for_context = nullptr;
    decltype(&cuDevicePrimaryCtxRetain) retain_context = nullptr;
    decltype(&cuDevicePrimaryCtxRelease) release_context = nullptr;

    decltype(&cuMemAlloc) allocate = nullptr;
    decltype(&cuMemFree) free = nullptr;
    decltype(&cuMemcpyHtoD) copy_to_device = nullptr;
    decltype(&cuMemcpyDtoH) copy_to_host = nullptr;
    decltype(&cuMemsetD8Async) fill_bytes = nullptr;

    decltype(&cuStreamGetCtx) context_of_stream = nullptr;
    decltype(&cuStreamSynchronize) wait_for_stream = nullptr;
    decltype(&cuStreamIsCapturing) is_capturing = nullptr;
    decltype(&cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
    decltype(&cuStreamBeginCapture) begin_capture = nullptr;
    decltype(&cuStreamEndCapture) end_capture = nullptr;

    decltype(&cuGraphCreate) create_graph = nullptr;
    decltype(&cuGraphGetNodes) graph_nodes = nullptr;
    decltype(&cuGraphDestroy) destroy_graph = nullptr;
    decltype(&cuGraphGetRootNodes) root_nodes = nullptr;
    // The version without data of edges, which <cuda.h> of 13.0 no longer declares.
    CUresult (*dependent_nodes)(CUgraphNode, CUgraphNode*, std::size_t*) = nullptr;
    decltype(&cuGraphNodeGetType) type_of_node = nullptr;
    decltype(&cuGraphAddEmptyNode) add_empty_node = nullptr;
    decltype(&cuGraphAddChildGraphNode) add_child_graph_node = nullptr;
    decltype(&cuGraphChildGraphNodeGetGraph) graph_of_child = nullptr;
    decltype(&cuGraphAddMemsetNode) add_fill_node = nullptr;
    decltype(&cuGraphMemsetNodeGetParams) get_fill_node = nullptr;
    decltype(&cuGraphMemsetNodeSetParams) set_fill_node = nullptr;
    decltype(&cuGraphInstantiateWithFlags) instantiate_graph = nullptr;
    decltype(&cuGraphLaunch) launch_graph = nullptr;
    decltype(&cuGraphExecDestroy) destroy_instance = nullptr;
    decltype(&cuGraphExecMemsetNodeSetParams) set_instance_fill_node = nullptr;

    decltype(&cuLibraryLoadData) load_library = nullptr;
    decltype(&cuLibraryUnload) unload_library = nullptr;
    decltype(&cuLibraryGetKernel) find_kernel = nullptr;
    decltype(&cuKernelGetFunction) function_of_kernel = nullptr;
    decltype(&cuKernelSetAttribute) set_kernel_attribute = nullptr;
    decltype(&cuLaunchKernel) launch_kernel = nullptr;
    decltype(&cuTensorMapEncodeTiled) encode_tensor_map = nullptr;
    decltype(&cuGraphAddKernelNode) add_kernel_node = nullptr;
    decltype(&cuGraphKernelNodeGetParams) get_kernel_node = nullptr;
    decltype(&cuGraphKernelNodeSetParams) set_kernel_node = nullptr;
    decltype(&cuGraphKernelNodeCopyAttributes) copy_kernel_attributes = nullptr;
    decltype(&cuGraphExecKernelNodeSetParams) set_instance_kernel_node = nullptr;

    // The offset and the size of a kernel's argument by number, from CUDA 12.4 on; null in older drivers.
    CUresult (*argument_of_kernel)(CUkernel, std::size_t, std::size_t*, std::size_t*) = nullptr;
    CUresult (*argument_of_function)(CUfunction, std::size_t, std::size_t*, std::size_t*) = nullptr;

    decltype(&cuEventCreate) create_event = nullptr;
    decltype(&cuEventRecord) record_event = nullptr;
    decltype(&cuEventSynchronize) wait_for_event = nullptr;
    decltype(&cuEventElapsedTime) elapsed = nullptr;
    decltype(&cuEventDestroy) destroy_event = nullptr;
};

Result<Driver> open_driver(std::string const& file);

// Opens libcuda.so.1 on the first call; later calls return the same result. Only for targets that use a GPU: once the
// real driver is loaded, offline planning does not work.
Result<Driver const*> driver();

// Success if the result is; else "<what> failed: CUDA_ERROR_X: <explanation>".
error_t driver_error(Driver const& driver, CUresult result, std::string const& what);

// Calls the driver, if there is one; the callable gets the table, and its result is returned.
template <class Call>
error_t ask(char const* what, Call const& call) {
    auto const found = driver();
    if (found.is_bad()) return found.error();
    CUresult const result = call(*found.value());
    return result == CUDA_SUCCESS ? error_t() : driver_error(*found.value(), result, what);
}

}  // namespace cudnn_frontend::cuda
