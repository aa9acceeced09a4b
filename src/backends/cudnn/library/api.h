// The functions of libcudnn that this library calls, as a table: filled from the real library, or by a recording fake.
#pragma once

#include "core/result.h"
#include "core/text.h"

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudnn_frontend::cudnn {

// Lives as long as the process: the library is never closed.
struct Api {
    std::size_t (*get_version)() = nullptr;
    char const* (*get_error_string)(cudnnStatus_t) = nullptr;
    void (*get_last_error_string)(char*, std::size_t) = nullptr;
    cudnnStatus_t (*create)(cudnnHandle_t*) = nullptr;
    cudnnStatus_t (*destroy)(cudnnHandle_t) = nullptr;
    cudnnStatus_t (*set_stream)(cudnnHandle_t, cudaStream_t) = nullptr;
    cudnnStatus_t (*get_stream)(cudnnHandle_t, cudaStream_t*) = nullptr;
    cudnnStatus_t (*create_descriptor)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t*) = nullptr;
    cudnnStatus_t (*destroy_descriptor)(cudnnBackendDescriptor_t) = nullptr;
    cudnnStatus_t (*set_attribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,
                                   std::int64_t, void const*) = nullptr;
    cudnnStatus_t (*get_attribute)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,
                                   std::int64_t, std::int64_t*, void*) = nullptr;
    cudnnStatus_t (*finalize)(cudnnBackendDescriptor_t) = nullptr;
    cudnnStatus_t (*execute)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) = nullptr;
    cudnnStatus_t (*populate_cuda_graph)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t,
                                         cudaGraph_t) = nullptr;
    cudnnStatus_t (*update_cuda_graph)(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t,
                                       cudaGraph_t) = nullptr;
};

// The backend's status codes as errors.

// The backend's own explanation of this thread's last failure; reading clears it. The causes become one line; if
// several engines refused, each with its own cause.
std::string last_error_text(Api const& api);

// "<what> failed: CUDNN_STATUS_X: <explanation>". Call it right after the failure.
error_t backend_error(Api const& api, cudnnStatus_t status, std::string const& what,
                      error_code_t code = error_code_t::CUDNN_BACKEND_API_FAILED);

using core::version_text;  // of cudnnGetVersion()

}  // namespace cudnn_frontend::cudnn
