// A field of a tensor or node as data: its name, its type, and how to read and write it without knowing the struct. A
// field is written once, in a table; JSON, printing, hashing and the JSON schema go through the table.
#pragma once

#include "core/dims.h"
#include "core/floats.h"
#include "core/names.h"

#include <cudnn_frontend/scalar.h>

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace cudnn_frontend::nodes {

enum class FieldType { Bool, Integer, Number, Enum, Text, IntegerList, BoolList, Scalar };

// An unset optional is monostate; enumerators are their ordinals.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, core::Dims, std::vector<bool>,
                                detail::Scalar>;

struct Field {
    char const* name;
    char const* summary;
    FieldType type;
    bool nullable;
    bool is_single;  // a Number stored as float: fewer digits represent it exactly
    bool is_label;   // does not change the computation, such as a name: not part of a graph's key
    std::span<char const* const> (*enumerators)();  // null unless type is Enum
    FieldValue (*get)(void const* object);
    void (*set)(void* object, FieldValue const& value);  // the value's alternative matches the type
};

namespace field_detail {

template <class T>
struct Unwrapped {
    using type = T;
    static constexpr bool nullable = false;
};
template <class T>
struct Unwrapped<core::Exact<T>> : Unwrapped<T> {};
template <class T>
struct Unwrapped<std::optional<T>> {
    using type = typename Unwrapped<T>::type;
    static constexpr bool nullable = true;
};

template <class T>
constexpr FieldType type_of() {
    if constexpr (std::is_same_v<T, bool>) return FieldType::Bool;
    else if constexpr (std::is_same_v<T, std::int64_t>) return FieldType::Integer;
    else if constexpr (std::is_floating_point_v<T>) return FieldType::Number;
    else if constexpr (std::is_enum_v<T>) return FieldType::Enum;
    else if constexpr (std::is_same_v<T, std::string>) return FieldType::Text;
    else if constexpr (std::is_same_v<T, core::Dims>) return FieldType::IntegerList;
    else if constexpr (std::is_same_v<T, std::vector<bool>>) return FieldType::BoolList;
    else {
        static_assert(std::is_same_v<T, detail::Scalar>, "a field of a type that the schema does not know");
        return FieldType::Scalar;
    }
}

template <class T>
FieldValue to_value(T const& member) {
    if constexpr (std::is_enum_v<T>) return static_cast<std::int64_t>(member);
    else if constexpr (std::is_same_v<T, float>) return core::widened(member);
    else return member;
}

template <class T>
T from_value(FieldValue const& value) {
    if constexpr (std::is_enum_v<T>) return static_cast<T>(std::get<std::int64_t>(value));
    else if constexpr (std::is_same_v<T, float>) return core::narrowed(std::get<double>(value));
    else return std::get<T>(value);
}

template <class Member>
struct Parts;
template <class C, class T>
struct Parts<T C::*> {
    using Class = C;
    using Type = T;
};

}  // namespace field_detail

// Object: the struct that the table describes; the member may belong to a base of it.
template <class Object, auto Member>
constexpr Field field(char const* name, char const* summary, bool is_label = false) {
    using Declared = typename field_detail::Parts<decltype(Member)>::Type;
    using Plain = typename field_detail::Unwrapped<Declared>::type;
    constexpr bool nullable = field_detail::Unwrapped<Declared>::nullable;
    Field row{.name = name, .summary = summary, .type = field_detail::type_of<Plain>(), .nullable = nullable};
    row.is_single = std::is_same_v<Plain, float>;
    row.is_label = is_label;
    if constexpr (std::is_enum_v<Plain>) row.enumerators = &core::names_of<Plain>;
    row.get = [](void const* object) -> FieldValue {
        auto const& member = static_cast<Object const*>(object)->*Member;
        if constexpr (nullable) return member ? field_detail::to_value<Plain>(*member) : FieldValue();
        else return field_detail::to_value<Plain>(member);
    };
    row.set = [](void* object, FieldValue const& value) {
        auto& member = static_cast<Object*>(object)->*Member;
        if constexpr (nullable) {
            if (std::holds_alternative<std::monostate>(value)) member.reset();
            else member = field_detail::from_value<Plain>(value);
        } else {
            member = field_detail::from_value<Plain>(value);
        }
    };
    return row;
}

// The settings of an object that a table describes, as text for people: " name=value" for each field that differs from
// a default object's.
std::string settings_text(std::span<Field const> fields, void const* object, void const* defaults);

// A value of the field, as text for people.
std::string value_text(Field const& field, FieldValue const& value);

}  // namespace cudnn_frontend::nodes
