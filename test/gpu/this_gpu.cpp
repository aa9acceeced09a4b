#include "gpu/this_gpu.h"

#include "gpu/cases/support_matrix_file.h"

#include <cuda_runtime_api.h>
#include <cudnn_frontend/runtime.h>

namespace sdpa_test {

int gpu_count() {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

int compute_capability() {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return major * 10 + minor;
}

std::string describe_gpu() {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    return std::string(properties.name) + " (" + capability_text(compute_capability()) + "), cuDNN " +
           cudnn_frontend::runtime::version_text(cudnn_frontend::runtime::cudnn_version());
}

}  // namespace sdpa_test
