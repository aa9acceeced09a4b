// Memory of another library as it describes it: where it lies, its shape, its type and its device. Made from DLPack,
// the exchange format of Python's array libraries (https://dmlc.github.io/dlpack), whose structures are declared here
// anew.
#pragma once

#include <cudnn_frontend/status.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sdpa_graph {

enum class Device_kind { UNKNOWN, CPU, CUDA };

struct Tensor_view {
    void* data = nullptr;  // of the first element
    std::vector<std::int64_t> dim;
    std::vector<std::int64_t> stride;  // in elements
    cudnn_frontend::DataType_t type = cudnn_frontend::DataType_t::NOT_SET;
    Device_kind device = Device_kind::UNKNOWN;
    std::int32_t device_index = 0;
    bool is_read_only = false;
};

namespace dlpack {

struct Device {
    std::int32_t kind;
    std::int32_t index;
};

// code: signed integers 0, unsigned ones 1, IEEE floats 2, opaque 3, bfloat16 4, complex 5, bool 6, FP8 from 7 on.
struct Type {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    std::int32_t rank;
    Type type;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null for row-major
    std::uint64_t byte_offset;
};

// The structure that a producer hands out, with the function that it wants called when the consumer is done.
struct Managed_tensor {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed_tensor*);
};

// The same since version 1.0.
struct Managed_tensor_versioned {
    std::uint32_t major;
    std::uint32_t minor;
    void* context;
    void (*deleter)(Managed_tensor_versioned*);
    std::uint64_t flags;  // the lowest bit: read only
    Tensor tensor;
};

// The type of this library; NOT_SET where it has none.
inline cudnn_frontend::DataType_t type_of(Type type) {
    using cudnn_frontend::DataType_t;
    struct Row {
        std::uint8_t code, bits;
        DataType_t type;
    };
    constexpr Row rows[] = {
        {0, 8, DataType_t::INT8},      {0, 32, DataType_t::INT32},    {0, 64, DataType_t::INT64},
        {1, 8, DataType_t::UINT8},     {2, 16, DataType_t::HALF},     {2, 32, DataType_t::FLOAT},
        {2, 64, DataType_t::DOUBLE},   {4, 16, DataType_t::BFLOAT16}, {6, 8, DataType_t::BOOLEAN},
        {10, 8, DataType_t::FP8_E4M3}, {12, 8, DataType_t::FP8_E5M2}, {14, 8, DataType_t::FP8_E8M0},
    };
    if (type.lanes != 1) return DataType_t::NOT_SET;
    for (Row const& row : rows)
        if (row.code == type.code && row.bits == type.bits) return row.type;
    return DataType_t::NOT_SET;
}

// Pinned memory is the host's. Managed memory is accessible from everywhere, so no device is wrong for it.
inline Device_kind kind_of(Device device) {
    constexpr std::int32_t cpu = 1, cuda = 2, cuda_host = 3;
    if (device.kind == cpu || device.kind == cuda_host) return Device_kind::CPU;
    return device.kind == cuda ? Device_kind::CUDA : Device_kind::UNKNOWN;
}

}  // namespace dlpack

namespace detail {

constexpr std::int64_t most_elements = INT64_MAX;

// The product of numbers that are not negative, at most the greatest number there is.
inline std::int64_t product(std::int64_t a, std::int64_t b) {
    return a > 0 && b > most_elements / a ? most_elements : a * b;
}
inline std::int64_t sum(std::int64_t a, std::int64_t b) { return b > most_elements - a ? most_elements : a + b; }

}  // namespace detail

// Packed strides of a row-major tensor.
inline std::vector<std::int64_t> row_major(std::vector<std::int64_t> const& dim) {
    std::vector<std::int64_t> stride(dim.size(), 1);
    for (std::size_t i = dim.size(); i-- > 1;) stride[i - 1] = detail::product(stride[i], dim[i] < 0 ? 0 : dim[i]);
    return stride;
}

// The elements from the first one to the last one in memory; 0 where a dim is 0 or less, and the greatest number there
// is where they are more. Negative strides reach before the first and do not count. Without strides the tensor is
// row-major.
inline std::int64_t span_of(std::size_t rank, std::int64_t const* dim, std::int64_t const* stride) {
    std::int64_t last = 0, elements = 1;
    for (std::size_t i = rank; i-- > 0; elements = detail::product(elements, dim[i])) {
        if (dim[i] <= 0) return 0;
        std::int64_t const step = stride == nullptr ? elements : stride[i];
        if (step > 0) last = detail::sum(last, detail::product(dim[i] - 1, step));
    }
    return detail::sum(last, 1);
}
inline std::int64_t span_of(std::vector<std::int64_t> const& dim, std::vector<std::int64_t> const& stride) {
    return span_of(dim.size() < stride.size() ? dim.size() : stride.size(), dim.data(), stride.data());
}

// The view keeps nothing alive: the tensor has to outlive it.
inline cudnn_frontend::error_t make_view(dlpack::Tensor const& tensor, Tensor_view& view) {
    using cudnn_frontend::error_code_t;
    if (tensor.rank < 0 || (tensor.rank > 0 && tensor.shape == nullptr))
        return {error_code_t::INVALID_VALUE,
                "a DLPack tensor of rank " + std::to_string(tensor.rank) + " without a shape"};
    Tensor_view result;
    result.type = dlpack::type_of(tensor.type);
    if (result.type == cudnn_frontend::DataType_t::NOT_SET)
        return {error_code_t::INVALID_VALUE, "a DLPack tensor of type code " + std::to_string(tensor.type.code) +
                                                 " with " + std::to_string(tensor.type.bits) + " bits in " +
                                                 std::to_string(tensor.type.lanes) +
                                                 " lanes: the library has no such type"};
    result.dim.assign(tensor.shape, tensor.shape + tensor.rank);
    if (tensor.strides != nullptr) result.stride.assign(tensor.strides, tensor.strides + tensor.rank);
    else result.stride = row_major(result.dim);
    result.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
    result.device = dlpack::kind_of(tensor.device);
    result.device_index = tensor.device.index;
    view = std::move(result);
    return {};
}

}  // namespace sdpa_graph
