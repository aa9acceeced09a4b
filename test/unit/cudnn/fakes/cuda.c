/* A libcuda.so.1 that knows one error. LACKS_CAPTURE leaves two functions out, HAS_GRAPHS those of cuda_graphs.cpp. */
typedef int Result;
enum { kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2 };

Result cuGetErrorName(Result error, char const** name) {
    *name = error == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : 0;
    return error == kOutOfMemory ? kSuccess : kInvalidValue;
}
Result cuGetErrorString(Result error, char const** text) {
    *text = error == kOutOfMemory ? "out of memory" : 0;
    return error == kOutOfMemory ? kSuccess : kInvalidValue;
}

#define FUNCTION(name) \
    Result name(void) { return kSuccess; }
FUNCTION(cuInit)
FUNCTION(cuDriverGetVersion)
FUNCTION(cuDeviceGetCount)
FUNCTION(cuDeviceGetName)
FUNCTION(cuDeviceGetAttribute)
FUNCTION(cuCtxGetCurrent)
FUNCTION(cuCtxSetCurrent)
FUNCTION(cuCtxGetDevice)
FUNCTION(cuCtxSynchronize)
FUNCTION(cuDevicePrimaryCtxRetain)
FUNCTION(cuDevicePrimaryCtxRelease_v2)
FUNCTION(cuMemAlloc_v2)
FUNCTION(cuMemFree_v2)
FUNCTION(cuMemcpyHtoD_v2)
FUNCTION(cuMemcpyDtoH_v2)
FUNCTION(cuStreamGetCtx)
FUNCTION(cuStreamSynchronize)
FUNCTION(cuStreamIsCapturing)
FUNCTION(cuThreadExchangeStreamCaptureMode)
#if !defined LACKS_CAPTURE && !defined HAS_GRAPHS
FUNCTION(cuStreamBeginCapture_v2)
FUNCTION(cuStreamEndCapture)
#endif
#ifndef HAS_GRAPHS
FUNCTION(cuMemsetD8Async)
FUNCTION(cuGraphCreate)
FUNCTION(cuGraphGetNodes)
FUNCTION(cuGraphDestroy)
FUNCTION(cuGraphGetRootNodes)
FUNCTION(cuGraphNodeGetDependentNodes)
FUNCTION(cuGraphNodeGetType)
FUNCTION(cuGraphAddEmptyNode)
FUNCTION(cuGraphAddChildGraphNode)
FUNCTION(cuGraphChildGraphNodeGetGraph)
FUNCTION(cuGraphAddMemsetNode)
FUNCTION(cuGraphMemsetNodeGetParams)
FUNCTION(cuGraphMemsetNodeSetParams)
FUNCTION(cuGraphAddKernelNode_v2)
FUNCTION(cuGraphKernelNodeGetParams_v2)
FUNCTION(cuGraphKernelNodeSetParams_v2)
FUNCTION(cuGraphKernelNodeCopyAttributes)
FUNCTION(cuGraphInstantiateWithFlags)
FUNCTION(cuGraphLaunch)
FUNCTION(cuGraphExecDestroy)
FUNCTION(cuGraphExecKernelNodeSetParams_v2)
FUNCTION(cuGraphExecMemsetNodeSetParams)
#endif
FUNCTION(cuLibraryLoadData)
FUNCTION(cuLibraryUnload)
FUNCTION(cuLibraryGetKernel)
FUNCTION(cuKernelSetAttribute)
FUNCTION(cuKernelGetFunction)
FUNCTION(cuLaunchKernel)
FUNCTION(cuTensorMapEncodeTiled)
FUNCTION(cuEventCreate)
FUNCTION(cuEventRecord)
FUNCTION(cuEventSynchronize)
FUNCTION(cuEventElapsedTime)
FUNCTION(cuEventDestroy_v2)
