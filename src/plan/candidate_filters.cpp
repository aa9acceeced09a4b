#include "plan/candidate.h"

#include "core/names.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

template <class Note>
std::string note_reason(std::vector<Note> const& has, std::vector<Note> const& required,
                        std::vector<Note> const& barred) {
    auto const holds = [&](Note note) { return std::find(has.begin(), has.end(), note) != has.end(); };
    for (Note const note : required) {
        if (!holds(note)) return std::string("lacks the note ") + core::name_of(note);
    }
    for (Note const note : barred) {
        if (holds(note)) return std::string("has the note ") + core::name_of(note);
    }
    return {};
}

std::string size_reason(char const* what, std::int64_t bytes, std::optional<std::int64_t> const& limit) {
    if (!limit || bytes <= *limit) return {};
    return "needs " + std::to_string(bytes) + " bytes of " + what + ", more than the limit of " +
           std::to_string(*limit);
}

bool let_all_pass(Filters const& filters) {
    return !filters.largest_workspace && !filters.largest_shared_memory && filters.barred_names.empty() &&
           filters.required_behavior.empty() && filters.barred_behavior.empty() && filters.required_numerics.empty() &&
           filters.barred_numerics.empty();
}

std::string name_reason(std::string const& name, std::vector<std::string> const& barred) {
    for (std::string const& part : barred) {
        if (!part.empty() && name.find(part) != std::string::npos) return "has the deselected name '" + part + "'";
    }
    return {};
}

}  // namespace

std::string reason_to_bar(EngineInfo const& engine, std::int64_t workspace_bytes, Filters const& filters) {
    if (let_all_pass(filters)) return {};
    std::string reason = size_reason("workspace", workspace_bytes, filters.largest_workspace);
    auto const or_else = [&](auto const& next) {
        if (reason.empty()) reason = next();
    };
    or_else([&] { return size_reason("shared memory", engine.shared_memory_bytes, filters.largest_shared_memory); });
    or_else([&] { return name_reason(engine.name, filters.barred_names); });
    or_else([&] { return note_reason(engine.behavior_notes, filters.required_behavior, filters.barred_behavior); });
    or_else([&] { return note_reason(engine.numerical_notes, filters.required_numerics, filters.barred_numerics); });
    return reason;
}

}  // namespace cudnn_frontend::plan
