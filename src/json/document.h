// A JSON document: its values, the names of the format, its parser and its printer.
#pragma once

#include "json/problems.h"
#include "nodes/schema/graph_spec.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cudnn_frontend::json {

struct Member;

// A JSON value as a tree. The JSON library's own tree allocates in its destructor, which must not throw: if memory runs
// out, the program ends. This one only frees memory.
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

    // Each is null for values of other types. Only integers beyond int64 are unsigned.
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
    using Content = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, List, Object>;

    template <std::integral T>
    static auto widened(T value) {
        return static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(value);
    }
    static Content integer(std::int64_t value);
    static Content integer(std::uint64_t value);

    Content value_;
};

struct Member {
    std::string name;
    Json value;

    bool operator==(Member const&) const = default;
};

template <class Element>
Json list_of(std::vector<Element> const& elements) {
    return Json::list({elements.begin(), elements.end()});
}

// The names of the document format itself. Those of fields, ports and nodes come from the tables of src/nodes.
namespace key {
inline constexpr char const* kFormat = "format";
inline constexpr char const* kVersion = "version";
inline constexpr char const* kContext = "context";
inline constexpr char const* kTensors = "tensors";
inline constexpr char const* kNodes = "nodes";
inline constexpr char const* kRaggedOffset = "ragged_offset";
inline constexpr char const* kTag = "tag";
inline constexpr char const* kInputs = "inputs";
inline constexpr char const* kOutputs = "outputs";
inline constexpr char const* kFields = "fields";
inline constexpr char const* kModifier = "modifier";
inline constexpr char const* kType = "type";
inline constexpr char const* kValue = "value";
inline constexpr char const* kBits = "bits";
}  // namespace key

inline constexpr char const* kFormatName = "sdpa-graph";
inline constexpr char const* kNan = "nan";
inline constexpr char const* kInfinity = "inf";
inline constexpr char const* kMinusInfinity = "-inf";
inline constexpr char const* kTensorIdPattern = "^t(0|[1-9][0-9]*)$";

inline constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxMembers = 1'000'000;  // of one object or array: bounds tensors and nodes
inline constexpr std::size_t kMaxValues = 8'000'000;

inline std::string tensor_id(std::size_t index) { return "t" + std::to_string(index); }

// The fields of every node, whatever its kind.
std::span<nodes::Field const> node_fields();

// Text -> JSON value, with limits: hostile text costs bounded time, memory and stack.

// The value, complete only if no problem was added. Duplicate members are both kept, and reported.
Json parse(std::string_view text, Problems& problems);

// JSON as text for people and diffs.

// Indented by two spaces, one member on a line; lists of plain values fill lines.
std::string print(Json const& value);

// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// A plain value on one line, cut at about 60 bytes; only the kind of lists and objects.
std::string excerpt(Json const& value);

}  // namespace cudnn_frontend::json
