#include "json/field_json.h"

#include "core/names.h"
#include "json/document.h"

#include <algorithm>
#include <bit>

namespace cudnn_frontend::json {
namespace {

using nodes::Field;
using nodes::FieldType;
using nodes::FieldValue;

constexpr char const* kBoolNeeded = "true or false";
constexpr char const* kIntegerNeeded = "an integer of 64 bits";

char const* enumerator_name(Field const& field, std::int64_t ordinal) {
    auto const names = field.enumerators();
    return ordinal >= 0 && static_cast<std::size_t>(ordinal) < names.size() ? names[static_cast<std::size_t>(ordinal)]
                                                                            : "?";
}

// Reads the value of one field; each function returns an empty value after adding a problem.
class FieldReader {
   public:
    FieldReader(Field const& field, Problems& problems) : field_(field), problems_(problems) {}

    std::optional<FieldValue> read(Json const& value, Place const& place) {
        if (value.is_null() && field_.nullable) return FieldValue();
        switch (field_.type) {
            case FieldType::Bool: return read_element<bool>(value, place);
            case FieldType::Integer: return read_element<std::int64_t>(value, place);
            case FieldType::Number:
                if (auto const number = number_from_json(value, field_.is_single)) return *number;
                return refuse(value, place, number_needed());
            case FieldType::Enum: return read_enumerator(value, place, field_.enumerators());
            case FieldType::Text:
                if (std::string const* const text = value.text()) return *text;
                return refuse(value, place, "a string");
            case FieldType::IntegerList: return read_list<std::int64_t>(value, place, "a list of integers");
            case FieldType::BoolList: return read_list<bool>(value, place, "a list of true and false");
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
        std::string const* const name = value.text();
        if (name == nullptr) return refuse(value, place, "a name as a string");
        auto const known = std::find(names.begin(), names.end(), *name);
        if (known != names.end()) return known - names.begin();
        problems_.add_unknown(place.pointer(), "the unknown name " + excerpt(value), *name, names);
        return std::nullopt;
    }

    template <class Element>
    std::optional<FieldValue> read_list(Json const& value, Place const& place, char const* needed) {
        if (!value.is_list()) return refuse(value, place, needed);
        std::vector<Element> list;
        list.reserve(value.elements().size());
        for (Json const& element : value.elements()) {
            auto const read = read_element<Element>(element, place / list.size());
            if (!read) return std::nullopt;
            list.push_back(*read);
        }
        return list;
    }

    template <class Element>
    std::optional<Element> read_element(Json const& value, Place const& place) {
        if constexpr (std::is_same_v<Element, bool>) {
            if (bool const* const boolean = value.boolean()) return *boolean;
            return refuse(value, place, kBoolNeeded);
        } else {
            if (auto const integer = integer_from_json(value)) return *integer;
            return refuse(value, place, kIntegerNeeded);
        }
    }

    std::optional<FieldValue> read_scalar(Json const& value, Place const& place) {
        Json const* const named_type = value.find(key::kType);
        Json const* const number = value.find(key::kValue);
        Json const* const bits = value.find(key::kBits);
        bool const has_value = number != nullptr;
        if (value.members().size() != 2 || named_type == nullptr || has_value == (bits != nullptr)) {
            return refuse(value, place, R"(a scalar such as {"type": "FLOAT", "value": 0.5})");
        }
        auto const type = read_enumerator(*named_type, place / key::kType, core::names_of<DataType_t>());
        if (!type) return std::nullopt;
        auto const scalar = has_value ? scalar_of_value(static_cast<DataType_t>(*type), *number)
                                      : scalar_of_bits(static_cast<DataType_t>(*type), *bits);
        if (scalar) return *scalar;
        if (has_value) return refuse(*number, place / key::kValue, "a value of " + *named_type->text());
        return refuse(*bits, place / key::kBits, "the bits as an integer from 0 to 2^64-1");
    }

    static std::optional<detail::Scalar> scalar_of_bits(DataType_t type, Json const& value) {
        if (std::uint64_t const* const large = value.large_integer()) return detail::Scalar{type, *large};
        std::int64_t const* const bits = value.integer();
        if (bits == nullptr || *bits < 0) return std::nullopt;
        return detail::Scalar{type, static_cast<std::uint64_t>(*bits)};
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
        case FieldType::IntegerList: return list_of(std::get<core::Dims>(value));
        case FieldType::BoolList: return list_of(std::get<std::vector<bool>>(value));
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

std::span<nodes::Field const> node_fields() {
    using nodes::Node;
    static constexpr nodes::Field kFields[] = {
        nodes::field<Node, &Node::name>("name", "what messages call the node", true),
        nodes::field<Node, &Node::compute_data_type>("compute_data_type",
                                                     "type in which the node computes; the graph's where not set"),
    };
    return kFields;
}

}  // namespace cudnn_frontend::json
