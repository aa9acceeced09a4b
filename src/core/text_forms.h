// Tables of plain text, and text within HTML and SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::core {

// Rows with columns as wide as their widest cell, except the last.
std::string table(std::vector<std::vector<std::string>> const& rows, std::string_view indent);

std::string escaped_for_xml(std::string_view plain);

}  // namespace cudnn_frontend::core
