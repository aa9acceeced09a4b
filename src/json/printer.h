// JSON as text for people and diffs.
#pragma once

#include "json/document.h"

#include <string>
#include <string_view>

namespace cudnn_frontend::json {

// Indented by two spaces, one member on a line; lists of plain values fill lines.
std::string print(Json const& value);

// The text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// A plain value on one line, cut at about 60 bytes; only the kind of lists and objects.
std::string excerpt(Json const& value);

}  // namespace cudnn_frontend::json
