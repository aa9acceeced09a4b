// Text within quotes in Graphviz's language.
#pragma once

#include <string>

namespace cudnn_frontend::core {

inline std::string escaped_for_dot(std::string const& text) {
    std::string out;
    for (char const c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') out += "\\n";
        else out += c;
    }
    return out;
}

}  // namespace cudnn_frontend::core
