// Texts: numbers, messages made of words and values, tables, and quoted text in other languages.
#pragma once

#include "core/dims.h"
#include "core/names.h"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cudnn_frontend::core {

// The shortest text that reads back as the same number, such as 0.1.
std::string shortest_text(float value);
std::string shortest_text(double value);

template <std::integral Number>
std::string shortest_text(Number value) {
    return std::to_string(value);
}

namespace wording {

template <class Part>
void append(std::string& out, Part const& part) {
    if constexpr (std::is_enum_v<Part>) out += name_of(part);
    else if constexpr (std::is_floating_point_v<Part>) out += shortest_text(part);
    else if constexpr (std::is_integral_v<Part>) out += std::to_string(part);
    else if constexpr (std::is_same_v<Part, Dims> || std::is_same_v<Part, std::vector<bool>>) out += to_string(part);
    else out += std::string_view(part);
}

}  // namespace wording

// Concatenates words, numbers, lists, and enumerators by name.
template <class... Parts>
std::string text(Parts const&... parts) {
    std::string out;
    (wording::append(out, parts), ...);
    return out;
}

// Text within quotes in Graphviz's language.
inline std::string escaped_for_dot(std::string const& text) {
    std::string out;
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') out += "\\n";
        else out += c;
    }
    return out;
}

// Rows with columns as wide as their widest cell, except the last.
std::string table(std::vector<std::vector<std::string>> const& rows, std::string_view indent);

std::string escaped_for_xml(std::string_view plain);

std::string version_text(std::size_t version);  // "9.19.0" for 91900

}  // namespace cudnn_frontend::core
