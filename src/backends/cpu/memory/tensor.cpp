#include "cpu/memory/tensor.h"

#include "core/data_type.h"
#include "core/floats.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace cudnn_frontend::cpu {
namespace {

double widened(double value) { return value; }
double widened(float value) { return core::widened(value); }

template <class T>
T narrowed(double value) {
    if constexpr (std::is_same_v<T, float>) return core::narrowed(value);
    else return value;
}

// Pointers of the caller's may be unaligned, so elements are copied.
template <class T>
void load_as(void const* data, std::int64_t offset, std::int64_t stride, std::int64_t count, double* row) {
    auto const* bytes = static_cast<char const*>(data);
    for (std::int64_t i = 0; i < count; ++i) {
        T element;
        std::memcpy(&element, bytes + (offset + i * stride) * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        row[i] = widened(element);
    }
}

template <class T>
void store_as(void* data, std::int64_t offset, std::int64_t stride, std::int64_t count, double const* row) {
    auto* bytes = static_cast<char*>(data);
    for (std::int64_t i = 0; i < count; ++i) {
        T const element = narrowed<T>(row[i]);
        std::memcpy(bytes + (offset + i * stride) * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
    }
}

}  // namespace

Tensor make_tensor(ir::Value const& value, DataType_t type, void* data) {
    Tensor tensor;
    tensor.data = data;
    tensor.type = type;
    tensor.rank = value.dim.size();
    tensor.is_tiled = value.reordering == TensorReordering_t::F8_128x4;
    std::copy(value.dim.begin(), value.dim.end(), tensor.dim.begin());
    std::copy(value.stride.begin(), value.stride.end(), tensor.stride.begin());
    return tensor;
}

Extents broadcast_strides(Tensor const& tensor, Tensor const& shape) {
    Extents strides{};
    for (std::size_t i = 1; i <= std::min(tensor.rank, shape.rank); ++i) {
        std::size_t const d = tensor.rank - i;
        strides[shape.rank - i] = tensor.dim[d] == 1 ? 0 : tensor.stride[d];
    }
    return strides;
}

void load_row(Tensor const& tensor, std::int64_t offset, std::int64_t stride, std::int64_t count, double* row) {
    if (stride == 0) {
        std::fill_n(row, count, core::load(tensor.type, tensor.data, offset));
    } else if (tensor.type == DataType_t::DOUBLE) {
        load_as<double>(tensor.data, offset, stride, count, row);
    } else if (tensor.type == DataType_t::FLOAT) {
        load_as<float>(tensor.data, offset, stride, count, row);
    } else {
        for (std::int64_t i = 0; i < count; ++i) row[i] = core::load(tensor.type, tensor.data, offset + i * stride);
    }
}

void store_row(Tensor const& tensor, std::int64_t offset, std::int64_t stride, std::int64_t count, double const* row) {
    if (tensor.type == DataType_t::DOUBLE) {
        store_as<double>(tensor.data, offset, stride, count, row);
    } else if (tensor.type == DataType_t::FLOAT) {
        store_as<float>(tensor.data, offset, stride, count, row);
    } else {
        for (std::int64_t i = 0; i < count; ++i) {
            core::store(tensor.type, tensor.data, offset + i * stride, row[i]);
        }
    }
}

}  // namespace cudnn_frontend::cpu
