#include "json/graph_json.h"

#include "json/document.h"
#include "json/problems.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace cudnn_frontend::json {
namespace {

constexpr char const* kKernelsFormat = "sdpa-graph kernels";
constexpr std::int64_t kKernelsVersion = 1;
constexpr char const* kCudnnVersion = "cudnn_version";
constexpr char const* kParts = "parts";
constexpr char const* kGraph = "graph";
constexpr char const* kKernels = "kernels";

using MemberNames = std::vector<char const*>;

// An object with these members and no others.
bool has_members(Json const& value, Place const& place, MemberNames const& names, Problems& problems) {
    if (!value.is_object()) {
        problems.add(place.pointer(), excerpt(value), "an object");
        return false;
    }
    for (char const* const name : names) {
        if (value.find(name) == nullptr) problems.add(place.pointer(), "no member " + json_string(name), "one");
    }
    for (auto const& [name, member] : value.members()) {
        if (std::ranges::find(names, name) != names.end()) continue;
        problems.add_unknown((place / name).pointer(), "the unknown member " + json_string(name), name, names);
    }
    return problems.empty();
}

// Checks a member that is known to exist.
template <class Test>
void check(Json const& object, Place const& place, char const* name, Test test, char const* needed,
           Problems& problems) {
    Json const& found = *object.find(name);
    if (!test(found)) problems.add((place / name).pointer(), excerpt(found), needed);
}

bool is_header(Json const& document, Problems& problems) {
    Place const root;
    if (!has_members(document, root, {key::kFormat, key::kVersion, kCudnnVersion, kParts}, problems)) return false;
    auto const is_format = [](Json const& value) { return value == kKernelsFormat; };
    auto const is_version = [](Json const& value) { return value == kKernelsVersion; };
    auto const is_count = [](Json const& value) { return value.integer() != nullptr && *value.integer() >= 0; };
    check(document, root, key::kFormat, is_format, "\"sdpa-graph kernels\"", problems);
    check(document, root, key::kVersion, is_version, "1", problems);
    check(document, root, kCudnnVersion, is_count, "a number such as 91900", problems);
    check(document, root, kParts, std::mem_fn(&Json::is_list), "an array", problems);
    return problems.empty();
}

void read_part(Json const& part, Place const& place, StoredKernels& kernels, Problems& problems) {
    if (!has_members(part, place, {kGraph, kKernels}, problems)) return;
    for (char const* const name : {kGraph, kKernels}) {
        check(part, place, name, std::mem_fn(&Json::text), "text", problems);
    }
    if (!problems.empty()) return;
    bool const is_new = kernels.parts.emplace(*part.find(kGraph)->text(), *part.find(kKernels)->text()).second;
    check(
        part, place, kGraph, [&](Json const&) { return is_new; }, "each graph once", problems);
}

}  // namespace

std::string write_kernels(StoredKernels const& kernels) {
    Json parts = Json::list();
    for (auto const& [graph, text] : kernels.parts) {
        parts.append(Json::object({{kGraph, graph}, {kKernels, text}}));
    }
    return print(Json::object({{key::kFormat, kKernelsFormat},
                               {key::kVersion, kKernelsVersion},
                               {kCudnnVersion, kernels.cudnn_version},
                               {kParts, std::move(parts)}}));
}

Result<StoredKernels> read_kernels(std::string_view text) {
    Problems problems;
    Json const document = parse(text, problems);
    StoredKernels kernels;
    if (problems.empty() && is_header(document, problems)) {
        kernels.cudnn_version = static_cast<std::size_t>(*document.find(kCudnnVersion)->integer());
        Json::List const& parts = document.find(kParts)->elements();
        Place const root;
        for (std::size_t i = 0; i < parts.size() && problems.empty(); ++i) {
            read_part(parts[i], root / kParts / i, kernels, problems);
        }
    }
    if (!problems.empty()) return problems.to_error("what a kernel cache holds");
    return kernels;
}

}  // namespace cudnn_frontend::json
