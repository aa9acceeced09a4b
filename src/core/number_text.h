// Numbers as the shortest text that reads back as the same number, such as 0.1.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace cudnn_frontend::core {

template <class Number>
std::string shortest_text(Number value) {
    std::array<char, 32> text{};
    auto const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

}  // namespace cudnn_frontend::core
