// Tables of plain text, text within HTML and SVG, version numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::core {

// Rows with columns as wide as their widest cell, except the last.
std::string table(std::vector<std::vector<std::string>> const& rows, std::string_view indent);

std::string escaped_for_xml(std::string_view plain);

std::string version_text(std::size_t version);  // "9.19.0" for 91900

}  // namespace cudnn_frontend::core
