// Floating-point numbers as bits: formats of 16 and 8 bits, subnormal numbers, exact comparison.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace cudnn_frontend::core {

// Conversions between float and the 16-bit formats, round to nearest even, with few enough branches to vectorize. No
// intermediate result is a subnormal float, so that they are right where the process flushes those to zero.

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

// Conversions to and from the 8-bit floating-point formats: round to nearest, ties to even; saturating, infinity too.
// NaN stays NaN.

// E4M3 has no infinities; its largest number is 448.
float e4m3_to_float(std::uint8_t bits);
std::uint8_t double_to_e4m3(double value);

// The upper half of an IEEE 754 binary16; the largest finite number is 57344.
float e5m2_to_float(std::uint8_t bits);
std::uint8_t double_to_e5m2(double value);

inline constexpr std::uint8_t kNanExponent = 255;
// FP8_E8M0: 2^(bits - 127), and NaN.
double e8m0_to_double(std::uint8_t bits);
// Rounds up to a power of two and clamps to the range. NaN for NaN and for negative values.
std::uint8_t double_to_e8m0(double value);
// Conversions between float and double that keep subnormal floats also where the process flushes them to zero, as
// programs linked with -ffast-math do.
inline double widened(float value) {
    std::uint32_t const magnitude = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
    if (magnitude >= 0x00800000u) return static_cast<double>(value);
    return std::copysign(static_cast<double>(magnitude) * 0x1p-149, value);
}

inline float narrowed(double value) {
    double const magnitude = std::abs(value);
    if (!(magnitude < 0x1p-126)) return static_cast<float>(value);
    std::uint32_t const sign = std::signbit(value) ? 0x80000000u : 0u;
    return std::bit_cast<float>(sign | static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p149)));
}

// A number that equals another only where all its bits do: -0 is not 0, not even where a process treats subnormal
// numbers as 0, and NaN is itself. So values that hold one can be compared to find out whether they are the same.
template <class T>
struct Exact {
    T value = 0;

    constexpr Exact() = default;
    constexpr Exact(T number) : value(number) {}
    constexpr operator T() const { return value; }

    friend constexpr bool operator==(Exact a, Exact b) { return bits(a) == bits(b); }
    friend constexpr bool operator==(Exact a, T b) { return a == Exact(b); }

   private:
    static constexpr auto bits(Exact number) {
        return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(number.value);
    }
};

}  // namespace cudnn_frontend::core
