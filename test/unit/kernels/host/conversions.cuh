// In place of the kernels' own file of that name, which needs a GPU.
#pragma once

#include "core/half.h"

struct bfloat16 {
    unsigned short bits;
};
struct half {
    unsigned short bits;
};

inline float to_float(float x) { return x; }
inline float to_float(bfloat16 x) { return cudnn_frontend::core::bfloat16_to_float(x.bits); }
inline float to_float(half x) { return cudnn_frontend::core::half_to_float(x.bits); }

inline void assign(float& to, float x) { to = x; }
inline void assign(bfloat16& to, float x) { to.bits = cudnn_frontend::core::float_to_bfloat16(x); }
inline void assign(half& to, float x) { to.bits = cudnn_frontend::core::float_to_half(x); }
