#include "cuda/driver_table.h"

#include "cuda/shared_object.h"

namespace cudnn_frontend::cuda {
namespace {

// <cuda.h> maps the plain name of a function to its newest version; the driver exports each version under its own name.

void find_devices_and_memory(Driver& driver, FunctionFinder& find) {
    find(driver.init, "cuInit");
    find(driver.get_version, "cuDriverGetVersion");
    find(driver.error_name, "cuGetErrorName");
    find(driver.error_text, "cuGetErrorString");
    find(driver.device_count, "cuDeviceGetCount");
    find(driver.device_name, "cuDeviceGetName");
    find(driver.device_attribute, "cuDeviceGetAttribute");
    find(driver.current_context, "cuCtxGetCurrent");
    find(driver.set_current_context, "cuCtxSetCurrent");
    find(driver.device_of_context, "cuCtxGetDevice");
    find(driver.retain_context, "cuDevicePrimaryCtxRetain");
    find(driver.release_context, "cuDevicePrimaryCtxRelease_v2");
    find(driver.allocate, "cuMemAlloc_v2");
    find(driver.free, "cuMemFree_v2");
    find(driver.copy_to_device, "cuMemcpyHtoD_v2");
    find(driver.copy_to_host, "cuMemcpyDtoH_v2");
    find(driver.fill_bytes, "cuMemsetD8Async");
    find(driver.context_of_stream, "cuStreamGetCtx");
    find(driver.wait_for_context, "cuCtxSynchronize");
    find(driver.wait_for_stream, "cuStreamSynchronize");
}

void find_graphs(Driver& driver, FunctionFinder& find) {
    find(driver.is_capturing, "cuStreamIsCapturing");
    find(driver.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
    find(driver.begin_capture, "cuStreamBeginCapture_v2");
    find(driver.end_capture, "cuStreamEndCapture");
    find(driver.create_graph, "cuGraphCreate");
    find(driver.graph_nodes, "cuGraphGetNodes");
    find(driver.destroy_graph, "cuGraphDestroy");
    find(driver.root_nodes, "cuGraphGetRootNodes");
    find(driver.dependent_nodes, "cuGraphNodeGetDependentNodes");
    find(driver.type_of_node, "cuGraphNodeGetType");
    find(driver.add_empty_node, "cuGraphAddEmptyNode");
    find(driver.add_child_graph_node, "cuGraphAddChildGraphNode");
    find(driver.graph_of_child, "cuGraphChildGraphNodeGetGraph");
    find(driver.add_fill_node, "cuGraphAddMemsetNode");
    find(driver.get_fill_node, "cuGraphMemsetNodeGetParams");
    find(driver.set_fill_node, "cuGraphMemsetNodeSetParams");
    find(driver.instantiate_graph, "cuGraphInstantiateWithFlags");
    find(driver.launch_graph, "cuGraphLaunch");
    find(driver.destroy_instance, "cuGraphExecDestroy");
    find(driver.set_instance_fill_node, "cuGraphExecMemsetNodeSetParams");
}

void find_kernels_and_events(Driver& driver, FunctionFinder& find) {
    find(driver.load_library, "cuLibraryLoadData");
    find(driver.unload_library, "cuLibraryUnload");
    find(driver.find_kernel, "cuLibraryGetKernel");
    find(driver.function_of_kernel, "cuKernelGetFunction");
    find(driver.set_kernel_attribute, "cuKernelSetAttribute");
    find(driver.launch_kernel, "cuLaunchKernel");
    find(driver.encode_tensor_map, "cuTensorMapEncodeTiled");
    find(driver.add_kernel_node, "cuGraphAddKernelNode_v2");
    find(driver.get_kernel_node, "cuGraphKernelNodeGetParams_v2");
    find(driver.set_kernel_node, "cuGraphKernelNodeSetParams_v2");
    find(driver.copy_kernel_attributes, "cuGraphKernelNodeCopyAttributes");
    find(driver.set_instance_kernel_node, "cuGraphExecKernelNodeSetParams_v2");
    find.find_optional(driver.argument_of_kernel, "cuKernelGetParamInfo");
    find.find_optional(driver.argument_of_function, "cuFuncGetParamInfo");
    find(driver.create_event, "cuEventCreate");
    find(driver.record_event, "cuEventRecord");
    find(driver.wait_for_event, "cuEventSynchronize");
    find(driver.elapsed, "cuEventElapsedTime");  // the version that drivers older than 12.8 have too
    find(driver.destroy_event, "cuEventDestroy_v2");
}

}  // namespace

Result<Driver> open_driver(std::string const& file) {
    SharedObject const object = open_object(file);
    if (!object) {
        return error_t(error_code_t::INVALID_CUDA_DEVICE,
                       "there is no CUDA driver (" + file + ": " + object.problem + "); install NVIDIA's driver");
    }
    Driver driver;
    FunctionFinder find(object);
    find_devices_and_memory(driver, find);
    find_graphs(driver, find);
    find_kernels_and_events(driver, find);
    if (find.missing().empty()) return driver;
    return error_t(error_code_t::INVALID_CUDA_DEVICE,
                   "the CUDA driver " + object.path() + " lacks " + find.missing() + "; update it");
}

Result<Driver const*> driver() {
    // It is never destroyed: destructors of static objects may free memory.
    static Result<Driver> const& opened = *new Result<Driver>(open_driver("libcuda.so.1"));
    if (opened.is_bad()) return opened.error();
    return &opened.value();
}

error_t driver_error(Driver const& driver, CUresult result, std::string const& what) {
    if (result == CUDA_SUCCESS) return {};
    char const* name = nullptr;
    char const* text = nullptr;
    driver.error_name(result, &name);
    driver.error_text(result, &text);
    std::string message = what + " failed: " + (name == nullptr ? "CUDA error " + std::to_string(result) : name);
    if (text != nullptr) message += std::string(": ") + text;
    return {error_code_t::CUDA_API_FAILED, std::move(message)};
}

}  // namespace cudnn_frontend::cuda
