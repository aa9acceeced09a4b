// The times of a graph's candidates in the plan store.
#pragma once

#include "plan/measured_times.h"
#include "plan/seam/backend.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::plan {

// The name is that of the engine with its knobs, or of the program.
struct TimedCandidate {
    std::string backend, name;
    MeasuredTimes times;

    friend bool operator==(TimedCandidate const&, TimedCandidate const&) = default;
};
using TimedCandidates = std::vector<TimedCandidate>;

// The bytes of an entry. Reading bytes that say anything impossible is an error.
std::string to_bytes(TimedCandidates const& all);
Result<TimedCandidates> read_times(std::string_view stored);

struct StoredTimes {
    TimedCandidates candidates;
    std::string remark;  // why those of the store must not be used; empty where they may be, or there are none
};

// Whether the times of one graph are those of the other: names and uids do not matter.
bool have_same_times(nodes::GraphSpec const& one, nodes::GraphSpec const& other);

// Nothing where the process has no store, and for the members of groups and batch-invariant graphs, whose plans must
// not depend on times.
StoredTimes find_times(PlanningInput const& input, Backends const& backends);

// The times of a graph that were measured in one environment.
struct TimesInStore {
    std::string environment;
    std::string circumstances;  // the settings that differ from the defaults
    TimedCandidates candidates;
};

// The times of all environments and circumstances in a store, which need not be that of the process.
Result<std::vector<TimesInStore>> all_times(std::filesystem::path const& store, nodes::ValidatedGraph const& graph);

// Keeps the times of one session in place of earlier ones: times of different sessions cannot be compared. Whether the
// process has a store for them.
bool keep_times(PlanningInput const& input, Backends const& backends, TimedCandidates const& session);

}  // namespace cudnn_frontend::plan
