// A tensor in host memory: where it lies, how it is laid out, what its elements are.
#pragma once

#include "core/data_type.h"
#include "ir/op_graph.h"

#include <array>
#include <cstdint>

namespace cudnn_frontend::inline v1::cpu {

struct View {
    void* data = nullptr;  // null: the tensor is not connected
    DataType_t type = DataType_t::FLOAT;
    std::array<std::int64_t, 4> dim{1, 1, 1, 1};
    std::array<std::int64_t, 4> stride{0, 0, 0, 0};
    void const* starts = nullptr;  // of a ragged tensor: where each batch entry starts
    DataType_t starts_type = DataType_t::INT32;

    explicit operator bool() const { return data != nullptr; }
    // The element's index; an index into a dim of size 1 is ignored, which broadcasts.
    std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
        std::int64_t const start =
            starts != nullptr ? core::load_integer(starts_type, starts, b) : (dim[0] == 1 ? 0 : b * stride[0]);
        return start + (dim[1] == 1 ? 0 : h * stride[1]) + (dim[2] == 1 ? 0 : i * stride[2]) +
               (dim[3] == 1 ? 0 : j * stride[3]);
    }
};

// Tensors of fewer than four dims get leading ones.
View make_view(ir::Value const& value, void* data);

}  // namespace cudnn_frontend::inline v1::cpu
