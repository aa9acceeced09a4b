// 16-bit floating-point values, and scalars that are embedded in the graph or passed by value.
#pragma once

#include "export.h"
#include "types.h"

#include <cstddef>
#include <cstdint>

// CUDA's own 16-bit types: declared, never defined here, so that programs which use them need no other header of ours.
struct __half;         // NOLINT(bugprone-reserved-identifier): the name that CUDA gives it
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier): as above

namespace cudnn_frontend {

// IEEE 754 binary16 as storage. Arithmetic is done in float.
struct SDPA_GRAPH_API float16 {
    std::uint16_t bits = 0;

    float16() = default;
    explicit float16(float value);
    explicit operator float() const;
};

// The upper half of an IEEE 754 binary32 as storage. Arithmetic is done in float.
struct SDPA_GRAPH_API bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    explicit bfloat16(float value);
    explicit operator float() const;
};

namespace detail {

// A typed scalar as its bits, low bytes first.
struct Scalar {
    DataType_t type = DataType_t::NOT_SET;
    std::uint64_t bits = 0;

    friend bool operator==(Scalar const& a, Scalar const& b) { return a.type == b.type && a.bits == b.bits; }
};

// The data type of each C++ type that a scalar can be made from; NOT_SET for all others.
template <class T>
struct scalar_type {
    static constexpr DataType_t value = DataType_t::NOT_SET;
};
template <>
struct scalar_type<float> {
    static constexpr DataType_t value = DataType_t::FLOAT;
};
template <>
struct scalar_type<double> {
    static constexpr DataType_t value = DataType_t::DOUBLE;
};
template <>
struct scalar_type<std::int32_t> {
    static constexpr DataType_t value = DataType_t::INT32;
};
template <>
struct scalar_type<std::int64_t> {
    static constexpr DataType_t value = DataType_t::INT64;
};
template <>
struct scalar_type<float16> {
    static constexpr DataType_t value = DataType_t::HALF;
};
template <>
struct scalar_type<bfloat16> {
    static constexpr DataType_t value = DataType_t::BFLOAT16;
};
template <>
struct scalar_type<::__half> {
    static constexpr DataType_t value = DataType_t::HALF;
};
template <>
struct scalar_type<::__nv_bfloat16> {
    static constexpr DataType_t value = DataType_t::BFLOAT16;
};

// Copies the bytes of a scalar, at most eight. Not inline, since <cstring> would slow down each including file.
SDPA_GRAPH_API Scalar copy_scalar(DataType_t type, void const* value, std::size_t bytes);

// Copies the bits, so that types which are only declared above need to be complete only where they are used.
template <class T>
Scalar make_scalar(T const& value) {
    static_assert(scalar_type<T>::value != DataType_t::NOT_SET, "not a type that a tensor can embed");
    static_assert(sizeof(T) <= sizeof(Scalar::bits), "a scalar has eight bytes at most");
    return copy_scalar(scalar_type<T>::value, &value, sizeof(T));
}

}  // namespace detail
}  // namespace cudnn_frontend
