// This replaces the kernels' own file of that name, which needs a GPU.
#pragma once

#include "core/floats.h"

#include <bit>

struct bfloat16 {
    unsigned short bits;
};
struct half {
    unsigned short bits;
};

template <class Element>
float to_float(unsigned bits);
template <>
inline float to_float<float>(unsigned bits) {
    return std::bit_cast<float>(bits);
}
template <>
inline float to_float<bfloat16>(unsigned bits) {
    return cudnn_frontend::core::bfloat16_to_float(static_cast<unsigned short>(bits));
}
template <>
inline float to_float<half>(unsigned bits) {
    return cudnn_frontend::core::half_to_float(static_cast<unsigned short>(bits));
}

template <class Element>
unsigned to_bits(float number);
template <>
inline unsigned to_bits<float>(float number) {
    return std::bit_cast<unsigned>(number);
}
template <>
inline unsigned to_bits<bfloat16>(float number) {
    return cudnn_frontend::core::float_to_bfloat16(number);
}
template <>
inline unsigned to_bits<half>(float number) {
    return cudnn_frontend::core::float_to_half(number);
}

// The number that an element in memory holds.
inline float to_float(float x) { return x; }
inline float to_float(bfloat16 x) { return to_float<bfloat16>(x.bits); }
inline float to_float(half x) { return to_float<half>(x.bits); }

inline void assign(float& to, float number) { to = number; }
inline void assign(bfloat16& to, float number) { to.bits = static_cast<unsigned short>(to_bits<bfloat16>(number)); }
inline void assign(half& to, float number) { to.bits = static_cast<unsigned short>(to_bits<half>(number)); }
