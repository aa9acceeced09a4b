#include <cudnn_frontend/scalar.h>

#include "core/half.h"

#include <cstring>

namespace cudnn_frontend {

float16::float16(float value) : bits(core::float_to_half(value)) {}
float16::operator float() const { return core::half_to_float(bits); }

bfloat16::bfloat16(float value) : bits(core::float_to_bfloat16(value)) {}
bfloat16::operator float() const { return core::bfloat16_to_float(bits); }

namespace detail {

Scalar copy_scalar(DataType_t type, void const* value, std::size_t bytes) {
    Scalar scalar;
    scalar.type = type;
    std::memcpy(&scalar.bits, value, bytes);
    return scalar;
}

}  // namespace detail
}  // namespace cudnn_frontend
