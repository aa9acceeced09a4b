// Helpers under the names of the existing frontend. Those that name types of cuDNN are there where its header is.
#pragma once

#include "runtime.h"

#include <cstdint>
#include <vector>

namespace cudnn_frontend {
namespace detail {

// The version of the cuDNN that was loaded, 91900 for 9.19.0; 0 where there is none.
inline std::size_t get_backend_version() { return runtime::cudnn_version(); }

// The place of each dim in memory: 0 is the dim of neighbours.
inline std::vector<std::int64_t> generate_row_major_stride_order(std::int64_t rank) {
    std::vector<std::int64_t> order;
    for (std::int64_t place = rank; place-- > 0;) order.push_back(place);
    return order;
}

// Of dims N, C and those of space, with C last in memory.
inline std::vector<std::int64_t> generate_NHWC_stride_order(std::int64_t rank) {
    std::vector<std::int64_t> order = generate_row_major_stride_order(rank);
    for (std::size_t i = 2; i < order.size(); ++i) ++order[i];
    if (order.size() > 1) order[1] = 0;
    return order;
}

// Packed strides of dims that lie in such an order.
inline std::vector<std::int64_t> generate_stride(std::vector<std::int64_t> const& dim,
                                                 std::vector<std::int64_t> const& order) {
    std::vector<std::int64_t> stride(dim.size(), 1);
    for (std::size_t i = 0; i < dim.size() && i < order.size(); ++i)
        for (std::size_t j = 0; j < dim.size() && j < order.size(); ++j)
            if (order[j] < order[i]) stride[i] *= dim[j];
    return stride;
}

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
}  // namespace cudnn_frontend
