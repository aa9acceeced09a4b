/* A stand-in for the CUDA driver on machines that have none: cuDNN compiles plans with it, and finds no device to run
 * them on. Loading modules succeeds, since compiling a plan may end with that. It is a library of its own, whose bytes
 * are part of ours, and calls nothing, the C library included. */
#include <stddef.h>

typedef int Result;
enum { kSuccess = 0, kNoDevice = 100, kNotFound = 500 };

#define EXPORT __attribute__((visibility("default")))

/* Distinguishes this library from the real one. */
EXPORT int const sdpa_graph_null_driver = 1;

static int object; /* what handles of modules, kernels and libraries point to */

EXPORT Result cuInit(unsigned flags) {
    (void)flags;
    return kNoDevice;
}
EXPORT Result cuDriverGetVersion(int* version) {
    *version = 13000;
    return kSuccess;
}
EXPORT Result cuDeviceGetCount(int* count) {
    *count = 0;
    return kNoDevice;
}
EXPORT Result cuGetExportTable(void const** table, void const* id) {
    (void)id;
    *table = NULL;
    return kNotFound;
}
EXPORT Result cuGetErrorString(Result error, char const** text) {
    *text = error == kSuccess ? "no error" : "there is no GPU: this is the stand-in driver of offline planning";
    return kSuccess;
}
EXPORT Result cuGetErrorName(Result error, char const** name) {
    *name = error == kSuccess ? "CUDA_SUCCESS" : error == kNotFound ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR_NO_DEVICE";
    return kSuccess;
}

/* The caller passes more arguments than these functions name. The platforms' calling conventions allow it. */
#define LOADING(F)           \
    F(cuKernelGetFunction)   \
    F(cuLibraryGetKernel)    \
    F(cuLibraryGetModule)    \
    F(cuLibraryLoadData)     \
    F(cuLibraryLoadFromFile) \
    F(cuModuleGetFunction)   \
    F(cuModuleLoad)          \
    F(cuModuleLoadData)      \
    F(cuModuleLoadDataEx)    \
    F(cuModuleLoadFatBinary)
#define DEFINE_LOADING(name)          \
    EXPORT Result name(void** made) { \
        *made = &object;              \
        return kSuccess;              \
    }
LOADING(DEFINE_LOADING)

#define ADJUSTING(F)        \
    F(cuFuncSetAttribute)   \
    F(cuKernelSetAttribute) \
    F(cuLibraryUnload)      \
    F(cuModuleUnload)
#define DEFINE_ADJUSTING(name) \
    EXPORT Result name(void) { return kSuccess; }
ADJUSTING(DEFINE_ADJUSTING)

/* Functions that running would need. cuDNN looks these up by name, and prints a complaint where one is missing. */
#define RUNNING(F)                                 \
    F(cuCtxCreate)                                 \
    F(cuCtxDestroy)                                \
    F(cuCtxGetCurrent)                             \
    F(cuCtxGetDevice)                              \
    F(cuCtxGetLimit)                               \
    F(cuCtxPopCurrent)                             \
    F(cuCtxPopCurrent_v2)                          \
    F(cuCtxPushCurrent)                            \
    F(cuCtxPushCurrent_v2)                         \
    F(cuCtxSetCurrent)                             \
    F(cuCtxSynchronize)                            \
    F(cuDeviceGet)                                 \
    F(cuDeviceGetAttribute)                        \
    F(cuDeviceGetName)                             \
    F(cuDevicePrimaryCtxRelease)                   \
    F(cuDevicePrimaryCtxRelease_v2)                \
    F(cuDevicePrimaryCtxReset)                     \
    F(cuDevicePrimaryCtxRetain)                    \
    F(cuDeviceTotalMem)                            \
    F(cuDeviceTotalMem_v2)                         \
    F(cuEventCreate)                               \
    F(cuEventRecord)                               \
    F(cuFuncGetAttribute)                          \
    F(cuGraphAddKernelNode)                        \
    F(cuGraphAddKernelNode_v2)                     \
    F(cuGraphAddMemsetNode)                        \
    F(cuGraphCreate)                               \
    F(cuKernelGetAttribute)                        \
    F(cuLaunchCooperativeKernel)                   \
    F(cuLaunchKernel)                              \
    F(cuLaunchKernelEx)                            \
    F(cuLibraryGetGlobal)                          \
    F(cuLinkAddData)                               \
    F(cuLinkAddData_v2)                            \
    F(cuLinkAddFile_v2)                            \
    F(cuLinkComplete)                              \
    F(cuLinkCreate)                                \
    F(cuLinkCreate_v2)                             \
    F(cuLinkDestroy)                               \
    F(cuMemAlloc)                                  \
    F(cuMemAlloc_v2)                               \
    F(cuMemFree)                                   \
    F(cuMemFree_v2)                                \
    F(cuMemGetInfo_v2)                             \
    F(cuMemcpyDtoHAsync_v2)                        \
    F(cuMemcpyDtoH_v2)                             \
    F(cuMemcpyHtoDAsync_v2)                        \
    F(cuMemsetD16Async)                            \
    F(cuMemsetD32Async)                            \
    F(cuMemsetD8Async)                             \
    F(cuModuleGetGlobal)                           \
    F(cuModuleGetGlobal_v2)                        \
    F(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    F(cuOccupancyMaxActiveClusters)                \
    F(cuOccupancyMaxPotentialClusterSize)          \
    F(cuPointerGetAttribute)                       \
    F(cuStreamGetCtx)                              \
    F(cuStreamIsCapturing)                         \
    F(cuStreamSynchronize)                         \
    F(cuStreamWaitEvent)                           \
    F(cuTensorMapEncodeIm2col)                     \
    F(cuTensorMapEncodeTiled)
#define DEFINE_RUNNING(name) \
    EXPORT Result name(void) { return kNoDevice; }
RUNNING(DEFINE_RUNNING)

EXPORT Result cuGetProcAddress(char const* name, void** function, int version, unsigned long long flags);
EXPORT Result cuGetProcAddress_v2(char const* name, void** function, int version, unsigned long long flags,
                                  int* status);

#define ENTRY(name) {#name, (void*)name},
static struct {
    char const* name;
    void* function;
} const functions[] = {ENTRY(cuInit) ENTRY(cuDriverGetVersion) ENTRY(cuDeviceGetCount) ENTRY(cuGetExportTable)
                           ENTRY(cuGetErrorString)
                               ENTRY(cuGetErrorName){"cuGetProcAddress", (void*)cuGetProcAddress_v2},
                       LOADING(ENTRY) ADJUSTING(ENTRY) RUNNING(ENTRY)};

static int is_same(char const* a, char const* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
}

EXPORT Result cuGetProcAddress_v2(char const* name, void** function, int version, unsigned long long flags,
                                  int* status) {
    (void)version, (void)flags;
    *function = NULL;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
        if (is_same(functions[i].name, name)) *function = functions[i].function;
    }
    if (status != NULL) *status = *function == NULL; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND is 1 */
    return *function == NULL ? kNotFound : kSuccess;
}
EXPORT Result cuGetProcAddress(char const* name, void** function, int version, unsigned long long flags) {
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
