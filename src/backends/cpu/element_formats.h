// How kernels read and write the elements of the types that they are compiled for.
#pragma once

#include "core/half.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

template <class T>
struct Plain {
    using Element = T;
    static float to_float(T value) { return static_cast<float>(value); }
    static T from_float(float value) { return static_cast<T>(value); }
};

struct Half {
    using Element = std::uint16_t;
    static float to_float(Element value) { return core::half_to_float(value); }
    static Element from_float(float value) { return core::float_to_half(value); }
};

struct Bfloat16 {
    using Element = std::uint16_t;
    static float to_float(Element value) { return core::bfloat16_to_float(value); }
    static Element from_float(float value) { return core::float_to_bfloat16(value); }
};

}  // namespace cudnn_frontend::cpu
