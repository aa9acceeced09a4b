// Conversions to and from the 8-bit floating-point formats: round to nearest, ties to even; saturating, infinity too.
// NaN stays NaN.
#pragma once

#include <cstdint>

namespace cudnn_frontend::core {

// No infinities; the largest number is 448.
float e4m3_to_float(std::uint8_t bits);
std::uint8_t double_to_e4m3(double value);

// The upper half of an IEEE 754 binary16; the largest finite number is 57344.
float e5m2_to_float(std::uint8_t bits);
std::uint8_t double_to_e5m2(double value);

}  // namespace cudnn_frontend::core
