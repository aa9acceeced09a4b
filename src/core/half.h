// Conversions between float and the 16-bit formats, round to nearest even, with few enough branches to vectorize. No
// intermediate result is a subnormal float, so that they are right where the process flushes those to zero.
#pragma once

#include <bit>
#include <cstdint>

namespace cudnn_frontend::core {

inline float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline std::uint16_t float_to_bfloat16(float value) {
    std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
    std::uint32_t const rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    bool const is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40u : rounded >> 16);
}

inline float half_to_float(std::uint16_t bits) {
    std::uint32_t const sign = std::uint32_t{bits & 0x8000u} << 16;
    std::uint32_t const magnitude = std::uint32_t{bits & 0x7fffu} << 13;
    // Subnormals: with the exponent of the smallest normal half the mantissa has a leading 1, which is subtracted.
    float const subnormal = std::bit_cast<float>(magnitude + 0x38800000u) - 0x1p-14f;
    std::uint32_t const normal = magnitude + 0x38000000u;  // * 2^112
    std::uint32_t const finite = magnitude < 0x00800000u ? std::bit_cast<std::uint32_t>(subnormal) : normal;
    std::uint32_t const special = magnitude | 0x7f800000u;
    return std::bit_cast<float>(sign | (magnitude >= 0x0f800000u ? special : finite));
}

inline std::uint16_t float_to_half(float value) {
    std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
    std::uint32_t const sign = (bits >> 16) & 0x8000u;
    std::uint32_t const magnitude = bits & 0x7fffffffu;
    // Subnormal results: adding 0.5 aligns the mantissa so that float's own rounding does the work.
    float const shifted = std::bit_cast<float>(magnitude) + 0.5f;
    std::uint32_t const subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
    std::uint32_t const normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    std::uint32_t const infinity_or_nan = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    std::uint32_t const finite = magnitude < 0x38800000u ? subnormal : normal;
    return static_cast<std::uint16_t>(sign | (magnitude >= 0x477ff000u ? infinity_or_nan : finite));
}

}  // namespace cudnn_frontend::core
