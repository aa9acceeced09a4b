// JSON as text for people and diffs.
#pragma once

#include "json/document.h"

#include <string>
#include <string_view>

namespace cudnn_frontend::json {

// Two spaces of indent, one member on a line; lists of plain values fill their lines.
std::string print(Json const& value);

// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// A plain value on one line, of at most about 60 bytes; what has members is only named.
std::string excerpt(Json const& value);

}  // namespace cudnn_frontend::json
