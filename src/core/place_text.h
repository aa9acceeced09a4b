// Where in a graph something was found, as text.
#pragma once

#include <cudnn_frontend/status.h>

#include <string>
#include <vector>

namespace cudnn_frontend::core {

// [sdpa_fwd.c07] node 'attention', tensor 'K'; of many tensors the first 16 and how many more there are.
std::string place_text(error_location const& where, std::vector<std::string> const& other_tensors);

}  // namespace cudnn_frontend::core
