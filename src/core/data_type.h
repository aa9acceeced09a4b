// Sizes of the data types, and their elements as double.
#pragma once

#include <cudnn_frontend/scalar.h>
#include <cudnn_frontend/types.h>

#include <cstdint>

namespace cudnn_frontend::core {

// Bytes of one element; 0 for NOT_SET and for types whose elements are not whole bytes.
std::int64_t size_of(DataType_t type);

bool is_floating_point(DataType_t type);  // of 16 bits or more
bool is_fp8(DataType_t type);             // FP8_E4M3 or FP8_E5M2
bool is_half(DataType_t type);            // HALF or BFLOAT16

// Whether the CPU targets can read and write the type: FLOAT, DOUBLE, HALF, BFLOAT16, FP8_E4M3, FP8_E5M2, FP8_E8M0,
// INT32, INT64, UINT8, INT8, BOOLEAN.
bool has_host_elements(DataType_t type);

// The element at an index, counted in elements.
double load(DataType_t type, void const* data, std::int64_t index);
void store(DataType_t type, void* data, std::int64_t index, double value);

// The same for integers, which keep all 64 bits.
std::int64_t load_integer(DataType_t type, void const* data, std::int64_t index);

double to_double(detail::Scalar const& scalar);
std::int64_t to_integer(detail::Scalar const& scalar);

}  // namespace cudnn_frontend::core
