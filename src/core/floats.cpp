#include "core/floats.h"

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/scalar.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cudnn_frontend {
namespace core {
namespace {

struct Format {
    int mantissa_bits;
    int smallest_exponent;  // of normal numbers
    double largest;
    unsigned largest_bits, nan_bits;
};
constexpr Format kE4m3{3, -6, 448.0, 0x7e, 0x7f};
constexpr Format kE5m2{2, -14, 57344.0, 0x7b, 0x7f};

// The exponent of a finite number other than 0. That of a subnormal double is far below every format's smallest, and
// need not be exact.
int exponent_of(double magnitude) { return static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023; }

double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

// Numbers of one exponent are multiples of a step; the bits count these multiples on across exponents.
unsigned bits_of_magnitude(double magnitude, Format const& format) {
    if (magnitude >= format.largest) return format.largest_bits;
    int const exponent = std::max(exponent_of(magnitude), format.smallest_exponent);
    double const step = power_of_two(exponent - format.mantissa_bits);
    auto const multiple = static_cast<unsigned>(std::nearbyint(magnitude / step));
    return (static_cast<unsigned>(exponent - format.smallest_exponent) << format.mantissa_bits) + multiple;
}

std::uint8_t narrow(double value, Format const& format) {
    unsigned const sign = std::signbit(value) ? 0x80u : 0u;
    unsigned const bits = std::isnan(value) ? format.nan_bits : bits_of_magnitude(std::abs(value), format);
    return static_cast<std::uint8_t>(sign | bits);
}

}  // namespace

float e4m3_to_float(std::uint8_t bits) {
    unsigned const magnitude = bits & 0x7fu;
    if (magnitude == kE4m3.nan_bits) return std::numeric_limits<float>::quiet_NaN();
    // The bits are those of a half whose exponent is 8 too small.
    auto const half = static_cast<std::uint16_t>((bits & 0x80u) << 8 | magnitude << 7);
    return half_to_float(half) * 256.0f;
}

std::uint8_t double_to_e4m3(double value) { return narrow(value, kE4m3); }

float e5m2_to_float(std::uint8_t bits) { return half_to_float(static_cast<std::uint16_t>(bits << 8)); }

std::uint8_t double_to_e5m2(double value) { return narrow(value, kE5m2); }

static constexpr int kBias = 127;  // of exponents in 8 bits

double e8m0_to_double(std::uint8_t bits) {
    if (bits == kNanExponent) return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(1.0, int{bits} - kBias);
}

std::uint8_t double_to_e8m0(double value) {
    if (std::isnan(value) || value < 0.0) return kNanExponent;
    if (value == 0.0) return 0;
    if (std::isinf(value)) return kNanExponent - 1;
    int exponent = 0;
    bool const is_power = std::frexp(value, &exponent) == 0.5;
    return static_cast<std::uint8_t>(std::clamp(exponent - (is_power ? 1 : 0) + kBias, 0, kNanExponent - 1));
}

}  // namespace core

float16::float16(float value) : bits(core::float_to_half(value)) {}
float16::operator float() const { return core::half_to_float(bits); }

bfloat16::bfloat16(float value) : bits(core::float_to_bfloat16(value)) {}
bfloat16::operator float() const { return core::bfloat16_to_float(bits); }

fp8_e4m3::fp8_e4m3(float value) : bits(core::double_to_e4m3(value)) {}
fp8_e4m3::operator float() const { return core::e4m3_to_float(bits); }

fp8_e5m2::fp8_e5m2(float value) : bits(core::double_to_e5m2(value)) {}
fp8_e5m2::operator float() const { return core::e5m2_to_float(bits); }

}  // namespace cudnn_frontend
