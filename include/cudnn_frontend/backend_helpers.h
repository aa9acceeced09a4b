// Helpers under the names of the existing frontend. Those that use cuDNN's types need its header.
#pragma once

#include "runtime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend {
namespace detail {

// The version of the cuDNN that was loaded, 91900 for 9.19.0; 0 where there is none.
inline std::size_t get_backend_version() { return runtime::cudnn_version(); }

inline std::string get_last_error_string_() { return runtime::last_error(); }

// The size of one element; of a group for types that are stored in groups, such as INT8x32; 0 for NOT_SET.
SDPA_GRAPH_API std::size_t get_element_size_in_bits(DataType_t type);

// The value of the corresponding enumerator in cuDNN's header; negative where there is none.
SDPA_GRAPH_API int backend_value(DataType_t value);
SDPA_GRAPH_API int backend_value(PointwiseMode_t value);
SDPA_GRAPH_API int backend_value(ReductionMode_t value);
SDPA_GRAPH_API int backend_value(HeurMode_t value);
SDPA_GRAPH_API int backend_value(KnobType_t value);
SDPA_GRAPH_API int backend_value(BehaviorNote_t value);
SDPA_GRAPH_API int backend_value(NumericalNote_t value);

// The position of each dim in memory: 0 is the innermost.
inline std::vector<std::int64_t> generate_row_major_stride_order(std::int64_t rank) {
    std::vector<std::int64_t> order;
    for (std::int64_t place = rank; place-- > 0;) order.push_back(place);
    return order;
}

// Strides of dims N, C and the spatial ones, with C innermost in memory.
inline std::vector<std::int64_t> generate_NHWC_stride_order(std::int64_t rank) {
    std::vector<std::int64_t> order = generate_row_major_stride_order(rank);
    for (std::size_t i = 2; i < order.size(); ++i) ++order[i];
    if (order.size() > 1) order[1] = 0;
    return order;
}

// Packed strides for dims in such an order.
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

// The same, converting enumerators. An unknown one leaves the result as it is.
template <class Ours, class Theirs>
cudnnStatus_t convert_enumerator(Ours value, Theirs& result) {
    int const known = backend_value(value);
    if (known < 0) return CUDNN_STATUS_NOT_SUPPORTED;
    result = static_cast<Theirs>(known);
    return CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t convert_to_cudnn_type(DataType_t value, cudnnDataType_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(PointwiseMode_t value, cudnnPointwiseMode_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(ReductionMode_t value, cudnnReduceTensorOp_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(HeurMode_t value, cudnnBackendHeurMode_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(KnobType_t value, cudnnBackendKnobType_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(BehaviorNote_t value, cudnnBackendBehaviorNote_t& result) {
    return convert_enumerator(value, result);
}
inline cudnnStatus_t convert_to_cudnn_type(NumericalNote_t value, cudnnBackendNumericalNote_t& result) {
    return convert_enumerator(value, result);
}

// A status has no text: the reason is available from the functions of runtime.h.
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
