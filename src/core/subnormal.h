// Conversions between float and double that keep subnormal floats also where the process flushes them to zero, as
// programs linked with -ffast-math do.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cudnn_frontend::core {

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

}  // namespace cudnn_frontend::core
