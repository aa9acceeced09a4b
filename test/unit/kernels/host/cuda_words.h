// The words of CUDA C++ that the kernels use, for a C++ compiler: one thread runs at a time.
#pragma once

#include <bit>
#include <cmath>

#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint2 {
    unsigned x, y;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

struct Position {
    unsigned x = 0;
};
inline Position threadIdx, blockIdx, blockDim, gridDim;

inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline void atomicOr(unsigned* word, unsigned bits) { *word |= bits; }
inline void atomicAnd(unsigned* word, unsigned bits) { *word &= bits; }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __log2f(float x) { return std::log2(x); }
