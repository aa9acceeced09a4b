#include "json/field_json.h"

#include "core/names.h"
#include "json/printer.h"
#include "json/scalar_json.h"

#include <algorithm>
#include <bit>

namespace cudnn_frontend::json {
namespace {

using nodes::Field;
using nodes::FieldType;
using nodes::FieldValue;

constexpr char const* kIntegerNeeded = "an integer of 64 bits";

char const* enumerator_name(Field const& field, std::int64_t ordinal) {
    auto const names = field.enumerators();
    return ordinal >= 0 && static_cast<std::size_t>(ordinal) < names.size() ? names[static_cast<std::size_t>(ordinal)]
                                                                            : "?";
}

// Reads one value of one field; each function returns nothing after it added a problem.
class FieldReader {
   public:
    FieldReader(Field const& field, Problems& problems) : field_(field), problems_(problems) {}

    std::optional<FieldValue> read(Json const& value, Place const& place) {
        if (value.is_null() && field_.nullable) return FieldValue();
        switch (field_.type) {
            case FieldType::Bool:
                if (value.is_boolean()) return value.get<bool>();
                return refuse(value, place, "true or false");
            case FieldType::Integer:
                if (auto const integer = integer_from_json(value)) return *integer;
                return refuse(value, place, kIntegerNeeded);
            case FieldType::Number:
                if (auto const number = number_from_json(value, field_.is_single)) return *number;
                return refuse(value, place, number_needed());
            case FieldType::Enum: return read_enumerator(value, place, field_.enumerators());
            case FieldType::Text:
                if (value.is_string()) return value.get<std::string>();
                return refuse(value, place, "a string");
            case FieldType::IntegerList: return read_list(value, place);
            case FieldType::Scalar: return read_scalar(value, place);
        }
        return std::nullopt;
    }

   private:
    std::nullopt_t refuse(Json const& value, Place const& place, std::string needed) {
        if (field_.nullable) needed += ", or null";
        problems_.add(place.pointer(), excerpt(value), needed);
        return std::nullopt;
    }

    std::string number_needed() const {
        return std::string("a number") + (field_.is_single ? " in the range of float" : "") +
               R"(, or one of "nan", "inf", "-inf")";
    }

    std::optional<std::int64_t> read_enumerator(Json const& value, Place const& place,
                                                std::span<char const* const> names) {
        if (!value.is_string()) return refuse(value, place, "a name as a string");
        auto const& name = value.get_ref<std::string const&>();
        auto const known = std::find(names.begin(), names.end(), name);
        if (known != names.end()) return known - names.begin();
        problems_.add_unknown(place.pointer(), "the unknown name " + excerpt(value), name, names);
        return std::nullopt;
    }

    std::optional<FieldValue> read_list(Json const& value, Place const& place) {
        if (!value.is_array()) return refuse(value, place, "a list of integers");
        core::Dims list;
        list.reserve(value.size());
        for (Json const& element : value) {
            auto const integer = integer_from_json(element);
            if (!integer) return refuse(element, place / list.size(), kIntegerNeeded);
            list.push_back(*integer);
        }
        return list;
    }

    std::optional<FieldValue> read_scalar(Json const& value, Place const& place) {
        bool const has_value = value.contains(key::kValue);
        if (!value.is_object() || value.size() != 2 || !value.contains(key::kType) ||
            has_value == value.contains(key::kBits)) {
            return refuse(value, place, R"(a scalar such as {"type": "FLOAT", "value": 0.5})");
        }
        auto const type = read_enumerator(value[key::kType], place / key::kType, core::names_of<DataType_t>());
        if (!type) return std::nullopt;
        char const* const member = has_value ? key::kValue : key::kBits;
        auto const scalar = has_value ? scalar_of_value(static_cast<DataType_t>(*type), value[member])
                                      : scalar_of_bits(static_cast<DataType_t>(*type), value[member]);
        if (scalar) return *scalar;
        std::string const needed = has_value ? "a value of " + value[key::kType].get<std::string>()
                                             : "the bits as an integer from 0 to 2^64-1";
        return refuse(value[member], place / member, needed);
    }

    static std::optional<detail::Scalar> scalar_of_bits(DataType_t type, Json const& value) {
        if (!value.is_number_unsigned()) return std::nullopt;
        return detail::Scalar{type, value.get<std::uint64_t>()};
    }

    Field const& field_;
    Problems& problems_;
};

}  // namespace

Json to_json(Field const& field, FieldValue const& value) {
    if (std::holds_alternative<std::monostate>(value)) return nullptr;
    switch (field.type) {
        case FieldType::Bool: return std::get<bool>(value);
        case FieldType::Integer: return std::get<std::int64_t>(value);
        case FieldType::Number: return number_to_json(std::get<double>(value), field.is_single);
        case FieldType::Enum: return enumerator_name(field, std::get<std::int64_t>(value));
        case FieldType::Text: return std::get<std::string>(value);
        case FieldType::IntegerList: return std::get<core::Dims>(value);
        case FieldType::Scalar: return scalar_to_json(std::get<detail::Scalar>(value));
    }
    return nullptr;
}

std::optional<FieldValue> from_json(Field const& field, Json const& value, Place const& place, Problems& problems) {
    return FieldReader(field, problems).read(value, place);
}

bool same(FieldValue const& a, FieldValue const& b) {
    auto const* const x = std::get_if<double>(&a);
    auto const* const y = std::get_if<double>(&b);
    if (x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
    return a == b;
}

}  // namespace cudnn_frontend::json
