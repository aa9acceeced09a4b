// The one table of enumerator names, for JSON, printing and messages.
#pragma once

#include <cudnn_frontend/status.h>
#include <cudnn_frontend/types.h>

#include <optional>
#include <span>
#include <string_view>

namespace cudnn_frontend::core {

// The names of an enumeration in the order of its values, which start at 0 without gaps.
template <class Enum>
std::span<char const* const> names_of();

// Whether the enumeration has this value: any number can be cast to it.
template <class Enum>
bool is_known(Enum value) {
    return static_cast<std::size_t>(value) < names_of<Enum>().size();
}

template <class Enum>
char const* name_of(Enum value) {
    auto const names = names_of<Enum>();
    auto const index = static_cast<std::size_t>(value);
    return index < names.size() ? names[index] : "?";
}

template <class Enum>
std::optional<Enum> from_name(std::string_view name) {
    auto const names = names_of<Enum>();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (name == names[i]) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

}  // namespace cudnn_frontend::core
