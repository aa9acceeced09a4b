// Numbers as the shortest text that reads back as the same number, such as 0.1.
#pragma once

#include <concepts>
#include <string>

namespace cudnn_frontend::core {

std::string shortest_text(float value);
std::string shortest_text(double value);

template <std::integral Number>
std::string shortest_text(Number value) {
    return std::to_string(value);
}

}  // namespace cudnn_frontend::core
