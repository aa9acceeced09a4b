#include "gpu/cases/support_matrix_file.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace sdpa_test {
namespace {

std::string trimmed(std::string const& text) {
    auto const first = text.find_first_not_of(' ');
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "| plain | yes |" is plain, yes.
std::vector<std::string> cells_of(std::string const& line) {
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(trimmed(cell));
    return cells;
}

// "yes", "**yes**" and "s22\*" without their marks.
std::string without_marks(std::string cell) {
    std::erase_if(cell, [](char c) { return c == '*' || c == '\\'; });
    return cell;
}

std::optional<std::size_t> column_of(std::vector<std::string> const& titles, std::string const& title) {
    auto const at = std::ranges::find(titles, title);
    if (at == titles.end()) return std::nullopt;
    return static_cast<std::size_t>(at - titles.begin());
}

}  // namespace

std::string capability_text(int compute_capability) {
    return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

std::optional<SupportMatrixColumn> SupportMatrixColumn::read(std::string const& text, std::string const& cudnn_version,
                                                             std::string const& compute_capability) {
    if (text.find("\ncuDNN " + cudnn_version + ",") == text.npos) return std::nullopt;
    SupportMatrixColumn column;
    std::optional<std::size_t> at[2];
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] != '|') continue;
        std::vector<std::string> const cells = cells_of(line);
        for (std::size_t pass : {0, 1}) {
            if (!at[pass]) at[pass] = column_of(cells, (pass == 0 ? "forward " : "backward ") + compute_capability);
            if (at[pass] && *at[pass] < cells.size()) column.cells_[pass][cells[0]] = without_marks(cells[*at[pass]]);
        }
    }
    if (!at[0] || !at[1]) return std::nullopt;
    return column;
}

std::optional<SupportMatrixColumn> SupportMatrixColumn::find(std::size_t cudnn_version, int compute_capability) {
    std::string const version = cudnn_frontend::runtime::version_text(cudnn_version),
                      capability = capability_text(compute_capability);
    std::error_code unreadable;
    for (auto const& entry : std::filesystem::directory_iterator(SDPA_TEST_MATRICES, unreadable)) {
        if (entry.path().filename().string().rfind("support-matrix", 0) != 0) continue;
        std::ifstream file(entry.path());
        std::string const content{std::istreambuf_iterator<char>(file), {}};
        if (auto column = read(content, version, capability)) return column;
    }
    return std::nullopt;
}

std::optional<std::string> SupportMatrixColumn::limits_of(std::string const& group, bool is_backward) const {
    auto const& cells = cells_[is_backward ? 1 : 0];
    auto const cell = cells.find(group);
    if (cell == cells.end() || cell->second.empty() || cell->second == "?") return std::nullopt;
    return cell->second == "yes" ? "" : cell->second;
}

}  // namespace sdpa_test
