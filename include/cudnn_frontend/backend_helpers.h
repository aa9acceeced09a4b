// Helpers under the names of the existing frontend. Those that name types of cuDNN are there where its header is.
#pragma once

#include "runtime.h"

namespace cudnn_frontend {
inline namespace v1 {
namespace detail {

// The version of the cuDNN that was loaded, 91900 for 9.19.0; 0 where there is none.
inline std::size_t get_backend_version() { return runtime::cudnn_version(); }

#if defined(SDPA_GRAPH_HAS_CUDNN_HEADER)
constexpr std::size_t get_compiled_version() { return CUDNN_VERSION; }

// The reason stays with the functions of runtime.h: a status has no text.
inline cudnnStatus_t status_of(error_t const& error) {
    return error.is_good() ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}

inline cudnnStatus_t create_handle(cudnnHandle_t* handle) { return status_of(runtime::create_handle(handle)); }
inline cudnnStatus_t destroy_handle(cudnnHandle_t handle) { return status_of(runtime::destroy_handle(handle)); }
inline cudnnStatus_t set_stream(cudnnHandle_t handle, CUstream_st* stream) {
    return status_of(runtime::set_stream(handle, stream));
}
inline cudnnStatus_t get_stream(cudnnHandle_t handle, CUstream_st** stream) {
    return status_of(runtime::get_stream(handle, stream));
}
#endif

}  // namespace detail
}  // namespace v1
}  // namespace cudnn_frontend
