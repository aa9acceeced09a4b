// A JSON value as a tree. The JSON library's own tree allocates in its destructor, which must not throw: if memory runs
// out, the program ends. This one only frees memory.
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
    using Object = std::vector<Member>;  // in document order; names may repeat

    // Defined in the source file: Member is incomplete here, which clang does not accept.
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

    // Null for values of other types. Only integers beyond int64 are unsigned.
    bool const* boolean() const { return std::get_if<bool>(&value_); }
    std::int64_t const* integer() const { return std::get_if<std::int64_t>(&value_); }
    std::uint64_t const* large_integer() const { return std::get_if<std::uint64_t>(&value_); }
    double const* floating() const { return std::get_if<double>(&value_); }
    std::string const* text() const { return std::get_if<std::string>(&value_); }

    // The elements of a list, the members of an object; none for other values.
    List const& elements() const;
    Object const& members() const;
    // The object's first member of that name; null if there is none or the value is not an object.
    Json const* find(std::string_view name) const;

    // The value must be a list, or an object. The reference is valid until the next append.
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
