// Rectangles of tensors, copied to and from packed float.
#pragma once

#include "core/floats.h"
#include "cpu/memory/view.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// The last two dims of a tensor, from an element on.
struct Slice {
    void* data;
    DataType_t type;
    std::int64_t origin;
    std::int64_t row_stride, column_stride;
};

// Dims of size 1 are broadcast.
Slice slice_of(DataView const& view, std::int64_t b, std::int64_t h, std::int64_t row, std::int64_t column);
Slice transposed(Slice const& slice);

// The packed side of a copy: element (row, column) at data[row * stride + column].
struct Packed {
    float* data;
    std::int64_t stride;
    std::int64_t rows, columns;
};

// Columns from to.columns to padded_columns are set to 0.
void load_tile(Slice const& from, Packed const& to, std::int64_t padded_columns);
void store_tile(Packed const& from, Slice const& to);

// How kernels read and write the elements of the types that they are compiled for.
template <class T>
struct PlainTraits {
    using Element = T;
    static float to_float(T value) { return static_cast<float>(value); }
    static T from_float(float value) { return static_cast<T>(value); }
};

struct HalfTraits {
    using Element = std::uint16_t;
    static float to_float(Element value) { return core::half_to_float(value); }
    static Element from_float(float value) { return core::float_to_half(value); }
};

struct Bfloat16Traits {
    using Element = std::uint16_t;
    static float to_float(Element value) { return core::bfloat16_to_float(value); }
    static Element from_float(float value) { return core::float_to_bfloat16(value); }
};

}  // namespace cudnn_frontend::cpu
