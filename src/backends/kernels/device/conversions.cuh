// Elements as bits and as numbers, without CUDA's headers, which may be missing at run time.
#pragma once

struct bfloat16 {
    unsigned short bits;
};
struct half {
    unsigned short bits;
};

// The number with these bits. If an element has 16 bits, the upper half does not matter.
template <class Element>
float to_float(unsigned bits);
template <>
inline float to_float<float>(unsigned bits) {
    return __uint_as_float(bits);
}
template <>
inline float to_float<bfloat16>(unsigned bits) {
    return __uint_as_float(bits << 16);
}
template <>
inline float to_float<half>(unsigned bits) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(static_cast<unsigned short>(bits)));
    return result;
}

// Rounds to nearest, ties to even.
template <class Element>
unsigned to_bits(float number);
template <>
inline unsigned to_bits<float>(float number) {
    return __float_as_uint(number);
}
template <>
inline unsigned to_bits<bfloat16>(float number) {
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    return bits;
}
template <>
inline unsigned to_bits<half>(float number) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
    return bits;
}

// The number that an element in memory holds.
inline float to_float(float x) { return x; }
inline float to_float(bfloat16 x) { return to_float<bfloat16>(x.bits); }
inline float to_float(half x) { return to_float<half>(x.bits); }

inline void assign(float& to, float number) { to = number; }
inline void assign(bfloat16& to, float number) { to.bits = static_cast<unsigned short>(to_bits<bfloat16>(number)); }
inline void assign(half& to, float number) { to.bits = static_cast<unsigned short>(to_bits<half>(number)); }
