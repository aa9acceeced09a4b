// Texts of messages made of words and values.
#pragma once

#include "core/dims.h"
#include "core/names.h"
#include "core/number_text.h"

#include <string>
#include <string_view>
#include <type_traits>

namespace cudnn_frontend::core {

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

}  // namespace cudnn_frontend::core
