// Rectangles of tensors, copied to and from packed float.
#pragma once

#include "core/floats.h"
#include "cpu/attention/kernels/attention_kernels.h"
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

// The packed side of a copy of pairs, as kernels multiply them (PairProduct).
struct PackedPairs {
    std::uint32_t* data;
    std::int64_t stride;
    std::int64_t rows, columns;  // of numbers
};

// Pairs of neighbors in a row, each row along a column of the packed side. Rows from to.rows to padded_rows, and pairs
// after the last column up to so many, are set to 0.
void load_pairs_of_columns(Slice const& from, PackedPairs const& to, std::int64_t padded_rows,
                           std::int64_t padded_pairs);
// Pairs of neighbors in a row, along a row of the packed side, in blocks of the stride: `first` rows come before the
// first one. Pairs after the last column up to the stride, and rows from to.rows to padded_rows, are set to 0.
void load_pairs_in_blocks(Slice const& from, PackedPairs const& to, std::int64_t first, std::int64_t padded_rows);
// Pairs of rows, from an even one on. Columns from to.columns to padded_columns are set to 0.
void load_pairs_of_rows(Slice const& from, PackedPairs const& to, std::int64_t padded_columns);

// The numbers of pairs of rows, and of pairs of lanes in blocks with this stride, as a tile.
void unpack_pairs_of_rows(std::uint32_t const* pairs, std::int64_t rows, std::int64_t lanes, float* tile);
void unpack_pairs_of_lanes(std::uint32_t const* pairs, std::int64_t stride, std::int64_t rows, std::int64_t lanes,
                           float* tile);

// Replaces infinity and NaN by 0: products of pairs cannot leave out those whose other factor is 0.
void clear_not_finite(std::uint32_t* pairs, std::int64_t count);
// Adds these products to a panel, columns x lanes: those of infinities and NaN in rows of keys with the elements of a
// tile, keys x lanes, that are not 0.
void add_not_finite(Packed const& rows, float const* tile, std::int64_t lanes, float* panel);

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
