#include "core/place_text.h"

#include <algorithm>

namespace cudnn_frontend::core {
namespace {

constexpr std::size_t kMostTensors = 16;

std::string tensors_text(std::string const& first, std::vector<std::string> const& others) {
    std::string text = (others.empty() ? "tensor '" : "tensors '") + first + "'";
    std::size_t const shown = std::min(others.size(), kMostTensors - 1);
    for (std::size_t i = 0; i < shown; ++i) text += ", '" + others[i] + "'";
    if (shown < others.size()) text += " and " + std::to_string(others.size() - shown) + " more";
    return text;
}

}  // namespace

std::string place_text(error_location const& where, std::vector<std::string> const& other_tensors) {
    std::string text = "[" + where.rule + "]";
    if (!where.node.empty()) text += " node '" + where.node + "'";
    if (!where.tensor.empty()) text += (where.node.empty() ? " " : ", ") + tensors_text(where.tensor, other_tensors);
    return text;
}

}  // namespace cudnn_frontend::core
