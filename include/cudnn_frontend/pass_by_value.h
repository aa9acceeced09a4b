// Embedded scalars as std::optional<std::variant>, and attributes that may be unset as std::optional. Not in tensor.h
// and attributes.h, since <optional> and <variant> are slow to compile.
#pragma once

#include "attributes.h"

#include <cstring>
#include <optional>
#include <variant>

namespace cudnn_frontend {
namespace graph {
using pass_by_values_t = std::variant<std::int64_t, std::int32_t, float16, float, double, bfloat16>;
}

namespace detail {
template <>
inline Scalar make_scalar(graph::pass_by_values_t const& value) {
    return std::visit([](auto const& held) { return make_scalar(held); }, value);
}

struct Optionals {
    template <class T>
    static std::optional<T> of(T const* value) {
        return value == nullptr ? std::nullopt : std::optional<T>(*value);
    }
};

struct Pass_by_values {
    template <class T>
    static graph::pass_by_values_t as(Scalar const& scalar) {
        T value;
        std::memcpy(static_cast<void*>(&value), &scalar.bits, sizeof(T));
        return value;
    }

    static std::optional<graph::pass_by_values_t> from(Scalar const& scalar) {
        switch (scalar.type) {
            case DataType_t::INT64: return as<std::int64_t>(scalar);
            case DataType_t::INT32: return as<std::int32_t>(scalar);
            case DataType_t::HALF: return as<float16>(scalar);
            case DataType_t::FLOAT: return as<float>(scalar);
            case DataType_t::DOUBLE: return as<double>(scalar);
            case DataType_t::BFLOAT16: return as<bfloat16>(scalar);
            default: return std::nullopt;
        }
    }
};
}  // namespace detail
}  // namespace cudnn_frontend
