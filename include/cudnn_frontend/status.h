// The only error channel of the library: nothing throws or aborts, and nothing is printed except the log, if enabled.
#pragma once

#include "enum_text.h"

#include <iosfwd>
#include <string>
#include <utility>

namespace cudnn_frontend {

// The place of an error in the graph; empty fields are unknown or do not apply.
struct error_location {
    std::string rule;    // id of the violated rule, as in docs/spec.md
    std::string node;    // name of the node
    std::string tensor;  // name of the tensor or port
};

// A code with a message. A default-constructed error_t is success.
struct [[nodiscard]] SDPA_GRAPH_API error_object {
    error_code_t code = error_code_t::OK;
    std::string err_msg;
    error_location where;

    error_object();
    error_object(error_code_t error_code, std::string message);
    error_object(error_code_t error_code, std::string message, error_location location);
    error_object(error_object const&);
    error_object(error_object&&) noexcept;
    error_object& operator=(error_object const&);
    error_object& operator=(error_object&&) noexcept;
    ~error_object();

    error_code_t get_code() const { return code; }
    std::string get_message() const;
    bool is_good() const { return code == error_code_t::OK; }
    bool is_bad() const { return code != error_code_t::OK; }
    bool operator==(error_code_t other) const { return code == other; }
    bool operator!=(error_code_t other) const { return code != other; }
};

typedef error_object error_t;

}  // namespace cudnn_frontend

template <>
struct std::tuple_size<cudnn_frontend::error_object> : std::integral_constant<std::size_t, 2> {};
template <>
struct std::tuple_element<0, cudnn_frontend::error_object> {
    using type = cudnn_frontend::error_code_t;
};
template <>
struct std::tuple_element<1, cudnn_frontend::error_object> {
    using type = std::string;
};

namespace cudnn_frontend {

namespace detail {
SDPA_GRAPH_API std::ostream& print_error(std::ostream& stream, error_object const& error);
}

// A template, so that a program's own << for errors wins.
template <class Error>
auto operator<<(std::ostream& stream, Error const& error) -> decltype(detail::print_error(stream, error)) {
    return detail::print_error(stream, error);
}

// auto [code, message] = graph.validate();
template <std::size_t Index>
auto& get(error_object& error) {
    if constexpr (Index == 0) return error.code;
    else return error.err_msg;
}
template <std::size_t Index>
auto const& get(error_object const& error) {
    return get<Index>(const_cast<error_object&>(error));
}
template <std::size_t Index>
auto&& get(error_object&& error) {
    return static_cast<typename std::tuple_element<Index, error_object>::type&&>(get<Index>(error));
}

}  // namespace cudnn_frontend
