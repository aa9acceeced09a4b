#include "json/field_json.h"

#include "core/data_type.h"
#include "core/floats.h"
#include "core/names.h"
#include "core/text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace cudnn_frontend::json {
namespace {

// The double with the shortest text that reads back as the float.
double shortest_double(float value) {
    std::string const text = core::shortest_text(value);
    double nearest = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), nearest);
    // Reading rounds twice, text to double to float, which in rare cases gives the adjacent float.
    bool const reads_back =
        std::bit_cast<std::uint32_t>(core::narrowed(nearest)) == std::bit_cast<std::uint32_t>(value);
    return reads_back ? nearest : core::widened(value);
}

// Whether a scalar of the type is written as a number. FP8 is not: reading saturates, so that numbers out of range
// would go unnoticed.
bool has_numbers(DataType_t type) {
    return core::has_host_elements(type) && !core::is_fp8(type) && type != DataType_t::FP8_E8M0;
}

bool is_single(DataType_t type) { return type != DataType_t::DOUBLE; }

std::optional<double> double_of(Json const& value) {
    if (double const* const number = value.floating()) return *number;
    if (std::int64_t const* const number = value.integer()) return static_cast<double>(*number);
    if (std::uint64_t const* const number = value.large_integer()) return static_cast<double>(*number);
    return std::nullopt;
}

std::optional<double> special_from_json(std::string const& name) {
    if (name == kNan) return std::numeric_limits<double>::quiet_NaN();
    if (name == kInfinity) return std::numeric_limits<double>::infinity();
    if (name == kMinusInfinity) return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

std::optional<detail::Scalar> floating_scalar(DataType_t type, Json const& value) {
    auto const number = number_from_json(value, is_single(type));
    if (!number) return std::nullopt;
    detail::Scalar scalar{type, 0};
    core::store(type, &scalar.bits, 0, *number);
    if (std::isfinite(*number) && !std::isfinite(core::to_double(scalar))) return std::nullopt;
    return scalar;
}

std::optional<detail::Scalar> integer_scalar(DataType_t type, Json const& value) {
    auto const number = integer_from_json(value);
    if (!number) return std::nullopt;
    auto const unused_bits = 64 - 8 * core::size_of(type);
    detail::Scalar const scalar{type, static_cast<std::uint64_t>(*number) << unused_bits >> unused_bits};
    if (core::to_integer(scalar) != *number) return std::nullopt;
    return scalar;
}

}  // namespace

Json number_to_json(double value, bool is_single) {
    if (std::isnan(value)) return kNan;
    if (std::isinf(value)) return value > 0 ? kInfinity : kMinusInfinity;
    return is_single ? shortest_double(core::narrowed(value)) : value;
}

std::optional<double> number_from_json(Json const& value, bool is_single) {
    if (std::string const* const name = value.text()) return special_from_json(*name);
    auto const number = double_of(value);
    if (!number || (is_single && std::isinf(static_cast<float>(*number)))) return std::nullopt;
    return number;
}

std::optional<std::int64_t> integer_from_json(Json const& value) {
    std::int64_t const* const integer = value.integer();
    return integer == nullptr ? std::nullopt : std::optional(*integer);
}

Json scalar_to_json(detail::Scalar const& scalar) {
    Json object = Json::object();
    object.append(key::kType, core::name_of(scalar.type));
    if (has_numbers(scalar.type)) {
        Json value = core::is_floating_point(scalar.type)
                         ? number_to_json(core::to_double(scalar), is_single(scalar.type))
                         : Json(core::to_integer(scalar));
        if (scalar_of_value(scalar.type, value) == scalar) {
            object.append(key::kValue, std::move(value));
            return object;
        }
    }
    object.append(key::kBits, scalar.bits);
    return object;
}

std::optional<detail::Scalar> scalar_of_value(DataType_t type, Json const& value) {
    if (!has_numbers(type)) return std::nullopt;
    return core::is_floating_point(type) ? floating_scalar(type, value) : integer_scalar(type, value);
}

}  // namespace cudnn_frontend::json
