#include "core/data_type.h"

#include "core/floats.h"

#include <cudnn_frontend/backend_helpers.h>
#include <cudnn_frontend/fp8.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cudnn_frontend::core {
namespace {

struct fp8_e8m0 {
    std::uint8_t bits = 0;
};

// Calls visit with a value of the elements' C++ type; narrow types as their bits.
template <class Visit>
auto with_element_type(DataType_t type, Visit const& visit) {
    switch (type) {
        case DataType_t::DOUBLE: return visit(double{});
        case DataType_t::INT32: return visit(std::int32_t{});
        case DataType_t::INT64: return visit(std::int64_t{});
        case DataType_t::INT8: return visit(std::int8_t{});
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN: return visit(std::uint8_t{});
        case DataType_t::HALF: return visit(float16{});
        case DataType_t::BFLOAT16: return visit(bfloat16{});
        case DataType_t::FP8_E4M3: return visit(fp8_e4m3{});
        case DataType_t::FP8_E5M2: return visit(fp8_e5m2{});
        case DataType_t::FP8_E8M0: return visit(fp8_e8m0{});
        default: return visit(float{});
    }
}

template <class T>
T read(void const* data, std::int64_t index) {
    T value;
    std::memcpy(&value, static_cast<char const*>(data) + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void write(void* data, std::int64_t index, T value) {
    std::memcpy(static_cast<char*>(data) + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

// Rounds to nearest and saturates; NaN becomes 0.
template <class T>
T to_integer_type(double value) {
    if (std::isnan(value)) return 0;
    double const rounded = std::nearbyint(value);
    if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(rounded);
}

double widen(float16 value) { return half_to_float(value.bits); }
double widen(bfloat16 value) { return widened(bfloat16_to_float(value.bits)); }
double widen(float value) { return widened(value); }
double widen(fp8_e4m3 value) { return e4m3_to_float(value.bits); }
double widen(fp8_e5m2 value) { return e5m2_to_float(value.bits); }
double widen(fp8_e8m0 value) { return e8m0_to_double(value.bits); }
template <class T>
double widen(T value) {
    return static_cast<double>(value);
}

// Rounds once, not to float first.
template <class T>
T to_eight_bits(double value) {
    T result;
    result.bits = std::is_same_v<T, fp8_e4m3> ? double_to_e4m3(value) : double_to_e5m2(value);
    return result;
}

template <class T>
T narrow(double value) {
    if constexpr (std::is_integral_v<T>) return to_integer_type<T>(value);
    else if constexpr (std::is_same_v<T, double>) return value;
    else if constexpr (std::is_same_v<T, fp8_e4m3> || std::is_same_v<T, fp8_e5m2>) return to_eight_bits<T>(value);
    else if constexpr (std::is_same_v<T, fp8_e8m0>) return T{double_to_e8m0(value)};
    else return T(narrowed(value));
}

}  // namespace

std::int64_t size_of(DataType_t type) {
    switch (type) {
        case DataType_t::DOUBLE:
        case DataType_t::INT64:
        case DataType_t::COMPLEX_FP32: return 8;
        case DataType_t::COMPLEX_FP64: return 16;
        case DataType_t::FLOAT:
        case DataType_t::INT32:
        case DataType_t::FAST_FLOAT_FOR_FP8: return 4;
        case DataType_t::HALF:
        case DataType_t::BFLOAT16: return 2;
        case DataType_t::INT8:
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN:
        case DataType_t::FP8_E4M3:
        case DataType_t::FP8_E5M2:
        case DataType_t::FP8_E8M0: return 1;
        default: return 0;
    }
}

bool is_floating_point(DataType_t type) {
    return type == DataType_t::FLOAT || type == DataType_t::DOUBLE || type == DataType_t::HALF ||
           type == DataType_t::BFLOAT16;
}

bool is_fp8(DataType_t type) { return type == DataType_t::FP8_E4M3 || type == DataType_t::FP8_E5M2; }

bool is_half(DataType_t type) { return type == DataType_t::HALF || type == DataType_t::BFLOAT16; }

bool has_host_elements(DataType_t type) {
    return is_floating_point(type) || is_fp8(type) || type == DataType_t::FP8_E8M0 || type == DataType_t::INT32 ||
           type == DataType_t::INT64 || type == DataType_t::UINT8 || type == DataType_t::INT8 ||
           type == DataType_t::BOOLEAN;
}

double load(DataType_t type, void const* data, std::int64_t index) {
    return with_element_type(type, [&](auto element) { return widen(read<decltype(element)>(data, index)); });
}

void store(DataType_t type, void* data, std::int64_t index, double value) {
    with_element_type(type, [&](auto element) { write(data, index, narrow<decltype(element)>(value)); });
}

std::int64_t load_integer(DataType_t type, void const* data, std::int64_t index) {
    if (type == DataType_t::INT64) return read<std::int64_t>(data, index);
    return to_integer_type<std::int64_t>(load(type, data, index));
}

double to_double(detail::Scalar const& scalar) { return load(scalar.type, &scalar.bits, 0); }

std::int64_t to_integer(detail::Scalar const& scalar) { return load_integer(scalar.type, &scalar.bits, 0); }

}  // namespace cudnn_frontend::core

namespace cudnn_frontend::detail {

Scalar copy_scalar(DataType_t type, void const* value, std::size_t bytes) {
    Scalar scalar;
    scalar.type = type;
    std::memcpy(&scalar.bits, value, bytes);
    return scalar;
}

std::size_t get_element_size_in_bits(DataType_t type) {
    switch (type) {
        case DataType_t::INT8x32: return 256;
        case DataType_t::INT8x4:
        case DataType_t::UINT8x4: return 32;
        case DataType_t::FP4_E2M1:
        case DataType_t::INT4: return 4;
        default: return static_cast<std::size_t>(core::size_of(type)) * 8;
    }
}

}  // namespace cudnn_frontend::detail
