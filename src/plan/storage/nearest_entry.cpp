#include "plan/storage/nearest_entry.h"

#include "core/findings.h"
#include "core/text.h"
#include "plan/storage/plan_folder.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace cudnn_frontend::plan {
namespace {

constexpr std::size_t kMostFiles = 500;

std::vector<std::string_view> split(std::string_view text, std::string_view between) {
    std::vector<std::string_view> parts;
    for (;;) {
        auto const end = text.find(between);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + between.size());
    }
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char letter) { return letter >= ' ' && letter < 0x7f; });
}

struct Difference {
    std::vector<std::string> parts;
    bool is_of_graph = false;  // what cuDNN got of it, which follows the lines for people

    std::size_t weight() const { return parts.size() + (is_of_graph ? 1000 : 0); }
};

// The lines are the environment, the properties of the device, the engine and a number of multiprocessors. Bytes that
// describe the graph follow.
Difference difference_of(std::string const& found, std::string const& expected) {
    Difference difference;
    auto const compare = [&](auto const& a, auto const& b) {
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
            std::string_view const x = i < a.size() ? a[i] : "", y = i < b.size() ? b[i] : "";
            if (x == y) continue;
            if (!is_printable(x) || !is_printable(y)) {
                difference.is_of_graph = true;
                return;
            }
            difference.parts.push_back(
                core::text(x.empty() ? "nothing" : x, " in place of ", y.empty() ? "nothing" : y));
        }
    };
    auto const end_of = [](std::string const& key) { return std::min(key.find('\n'), key.size()); };
    compare(split(std::string_view(found).substr(0, end_of(found)), ", "),
            split(std::string_view(expected).substr(0, end_of(expected)), ", "));
    auto const lines_of = [&](std::string const& key) {
        return split(std::string_view(key).substr(end_of(key)), "\n");
    };
    compare(lines_of(found), lines_of(expected));
    return difference;
}

std::string text_of(Difference difference) {
    if (difference.is_of_graph) difference.parts.emplace_back("another graph");
    return core::listed(difference.parts, "and");
}

}  // namespace

std::string key_difference(std::string const& found, std::string const& expected) {
    return text_of(difference_of(found, expected));
}

std::string difference_from_nearest(std::filesystem::path const& store, std::string const& key) {
    std::optional<Difference> nearest;
    for (std::string const& other : keys_of_store(store, kMostFiles)) {
        if (other == key) continue;  // written after the miss
        Difference difference = difference_of(other, key);
        if (!nearest || difference.weight() < nearest->weight()) nearest = std::move(difference);
    }
    return nearest ? text_of(std::move(*nearest)) : std::string();
}

}  // namespace cudnn_frontend::plan
