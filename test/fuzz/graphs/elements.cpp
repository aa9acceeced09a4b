#include "fuzz/graphs/elements.h"

#include <cudnn_frontend/enum_text.h>
#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/scalar.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace fuzz {
namespace {

struct Power_of_two {  // FP8_E8M0
    std::uint8_t bits = 127;

    Power_of_two() = default;
    explicit Power_of_two(float value) {
        float const exponent = std::isfinite(value) && value != 0.0f ? std::log2(std::abs(value)) : 128.0f;
        bits = static_cast<std::uint8_t>(std::clamp(std::nearbyint(exponent) + 127.0f, 0.0f, 255.0f));
    }
    explicit operator float() const {
        return bits == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127);
    }
};

// Calls visit with a value of the elements' C++ type.
template <class Visit>
auto with_type(DataType_t type, Visit visit) {
    using namespace cudnn_frontend;
    switch (type) {
        case DataType_t::DOUBLE: return visit(double{});
        case DataType_t::HALF: return visit(float16{});
        case DataType_t::BFLOAT16: return visit(bfloat16{});
        case DataType_t::FP8_E4M3: return visit(fp8_e4m3{});
        case DataType_t::FP8_E5M2: return visit(fp8_e5m2{});
        case DataType_t::FP8_E8M0: return visit(Power_of_two{});
        case DataType_t::INT32: return visit(std::int32_t{});
        case DataType_t::INT64: return visit(std::int64_t{});
        case DataType_t::INT8: return visit(std::int8_t{});
        case DataType_t::UINT8:
        case DataType_t::BOOLEAN: return visit(std::uint8_t{});
        default: return visit(float{});
    }
}

template <class T>
T converted(double value) {
    if constexpr (!std::is_integral_v<T>) {
        // Converting a double out of float's range is undefined.
        if constexpr (std::is_same_v<T, double>) return value;
        constexpr double kMost = std::numeric_limits<float>::max();
        bool const is_finite = std::isfinite(value);
        return T(static_cast<float>(is_finite ? std::clamp(value, -kMost, kMost) : value));
    } else {
        constexpr double kLimit = 0x1p62;
        double const whole = std::isnan(value) ? 0.0 : std::clamp(std::trunc(value), -kLimit, kLimit);
        auto const low = static_cast<std::int64_t>(std::numeric_limits<T>::min());
        auto const high = static_cast<std::int64_t>(std::numeric_limits<T>::max());
        return static_cast<T>(std::clamp(static_cast<std::int64_t>(whole), low, high));
    }
}

template <class T>
double number(T const& value) {
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
    else return static_cast<double>(static_cast<float>(value));
}

}  // namespace

DataType_t type_named(std::string const& name) {
    for (int i = 0; i <= static_cast<int>(DataType_t::COMPLEX_FP64); ++i) {
        if (name == to_string(static_cast<DataType_t>(i))) return static_cast<DataType_t>(i);
    }
    return DataType_t::NOT_SET;
}

std::size_t bytes_of(DataType_t type) {
    if (!is_floating(type) && type != DataType_t::INT32 && type != DataType_t::INT64 && type != DataType_t::INT8 &&
        type != DataType_t::UINT8 && type != DataType_t::BOOLEAN) {
        return 0;
    }
    return with_type(type, [](auto value) { return sizeof(value); });
}

bool is_floating(DataType_t type) {
    constexpr DataType_t kTypes[] = {DataType_t::FLOAT,    DataType_t::DOUBLE,   DataType_t::HALF,
                                     DataType_t::BFLOAT16, DataType_t::FP8_E4M3, DataType_t::FP8_E5M2,
                                     DataType_t::FP8_E8M0};
    return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

double largest_of(DataType_t type) {
    switch (type) {
        case DataType_t::DOUBLE: return std::numeric_limits<double>::max();
        case DataType_t::HALF: return 65504.0;
        case DataType_t::FP8_E4M3:
        case DataType_t::FP8_E5M2: return cudnn_frontend::fp8_largest(type);
        default: return std::numeric_limits<float>::max();
    }
}

double load(DataType_t type, std::byte const* from) {
    return with_type(type, [from](auto value) {
        std::memcpy(static_cast<void*>(&value), from, sizeof(value));
        return number(value);
    });
}

void store(DataType_t type, std::byte* to, double value) {
    with_type(type, [=](auto zero) {
        auto const element = converted<decltype(zero)>(value);
        std::memcpy(to, static_cast<void const*>(&element), sizeof(element));
    });
}

double rounded(DataType_t type, double value) {
    std::byte element[16]{};
    store(type, element, value);
    return load(type, element);
}

}  // namespace fuzz
