// 16-bit floating-point numbers, without CUDA's headers, which may be missing at run time.
#pragma once

struct bfloat16 {
    unsigned short bits;
};
struct half {
    unsigned short bits;
};

inline float to_float(float x) { return x; }
inline float to_float(int x) { return static_cast<float>(x); }
inline float to_float(bfloat16 x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }
inline float to_float(half x) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x.bits));
    return result;
}

// To nearest, ties to even.
inline void assign(float& to, float x) { to = x; }
inline void assign(int& to, float x) { to = static_cast<int>(x); }
inline void assign(bfloat16& to, float x) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to.bits) : "f"(x)); }
inline void assign(half& to, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x)); }
