// A JSON value as a tree. The JSON library's own tree takes memory while it is destroyed, in a destructor that must not
// throw: where memory runs out, it ends the program. This one only gives memory back.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cudnn_frontend::json {

struct Member;

class Json {
   public:
    using List = std::vector<Json>;
    using Object = std::vector<Member>;  // in the order in which they stand; a name may stand twice

    // Defined apart: here a member of an object is no complete type yet, and clang would need it.
    Json();  // null
    Json(std::nullptr_t);
    template <std::same_as<bool> T>
    Json(T value) : value_(value) {}
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json(T value) : value_(integer(widened(value))) {}
    Json(double value);
    Json(std::string value);
    Json(char const* value);

    static Json list();
    static Json list(List elements);
    static Json object(std::initializer_list<Member> members = {});

    bool is_null() const { return holds<std::monostate>(); }
    bool is_float() const { return holds<double>(); }
    bool is_list() const { return holds<List>(); }
    bool is_object() const { return holds<Object>(); }
    bool is_structured() const { return is_list() || is_object(); }

    // Null where the value is something else. Integers past int64 are unsigned, all others are not.
    bool const* boolean() const { return std::get_if<bool>(&value_); }
    std::int64_t const* integer() const { return std::get_if<std::int64_t>(&value_); }
    std::uint64_t const* large_integer() const { return std::get_if<std::uint64_t>(&value_); }
    double const* floating() const { return std::get_if<double>(&value_); }
    std::string const* text() const { return std::get_if<std::string>(&value_); }

    // Of a list and of an object; none of any other value.
    List const& elements() const;
    Object const& members() const;
    // The object's first member of that name; null where it has none, or is no object.
    Json const* find(std::string_view name) const;

    // To a list, and to an object, which the value has to be. The reference holds until the next one is appended.
    Json& append(Json element);
    Json& append(std::string name, Json value);

    bool operator==(Json const& other) const;

   private:
    template <class T>
    bool holds() const {
        return std::holds_alternative<T>(value_);
    }
    using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;

    template <std::integral T>
    static auto widened(T value) {
        return static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(value);
    }
    static Value integer(std::int64_t value);
    static Value integer(std::uint64_t value);

    Value value_;
};

struct Member {
    std::string name;
    Json value;

    bool operator==(Member const&) const = default;
};

}  // namespace cudnn_frontend::json
