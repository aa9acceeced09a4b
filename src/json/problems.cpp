#include "json/problems.h"

#include "json/document.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace cudnn_frontend::json {
namespace {

constexpr error_code_t kCode = error_code_t::UNSUPPORTED_GRAPH_FORMAT;
constexpr std::size_t kLongestName = 64;  // longer ones are not compared
constexpr std::size_t kMostNames = 24;    // longer lists are not written out

int lower(char letter) { return std::tolower(static_cast<unsigned char>(letter)); }

// Insertions, deletions and replacements that turn one name into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

std::string list_of(std::span<char const* const> names) {
    if (names.empty()) return "no member";
    std::string text = names.size() == 1 ? "" : "one of ";
    std::size_t const shown = names.size() > kMostNames ? kMostNames / 3 : names.size();
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + std::string(names[i]);
    return shown == names.size() ? text : text + " and " + std::to_string(names.size() - shown) + " more";
}

}  // namespace

std::string pointer_token(std::string_view member) {
    std::string const shown = excerpt(std::string(member));
    bool const is_whole = shown.back() == '"';
    std::string token;
    for (char const letter : std::string_view(shown).substr(1, shown.size() - (is_whole ? 2 : 1))) {
        if (letter == '~' || letter == '/') token += '~';
        token += letter == '~' ? '0' : letter == '/' ? '1' : letter;
    }
    return token;
}

std::string Place::pointer() const {
    if (parent_ == nullptr) return "";
    return parent_->pointer() + "/" + (is_member_ ? pointer_token(member_) : std::to_string(index_));
}

void Problems::add(std::string const& where, std::string const& found, std::string const& needed,
                   std::string const& fix) {
    Findings::add(core::finding_at(where.empty() ? "the document" : where, kCode, found, needed, fix));
}

void Problems::add_unknown(std::string const& where, std::string const& found, std::string_view name,
                           std::span<char const* const> known) {
    if (is_full()) return;
    auto const nearest = nearest_name(name, known);
    add(where, found, list_of(known), nearest ? json_string(*nearest) : std::string());
}

error_t Problems::to_error(std::string_view document) const {
    if (empty()) return {};
    // The place of the first problem is left out: programs look there for nodes of a graph.
    return {kCode, Findings::to_error("the JSON text is not " + std::string(document)).err_msg};
}

std::optional<std::string_view> nearest_name(std::string_view name, std::span<char const* const> known) {
    if (name.empty() || name.size() > kLongestName) return std::nullopt;
    std::optional<std::string_view> nearest;
    std::size_t fewest = std::min(std::max<std::size_t>(3, name.size() / 3), name.size());
    for (std::string_view const candidate : known) {
        std::size_t const edits = edit_distance(name, candidate);
        if (edits >= fewest) continue;
        fewest = edits;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace cudnn_frontend::json
