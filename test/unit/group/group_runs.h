// Runs of all ranks of a group of threads, bit by bit.
#pragma once

#include "support/catch.h"
#include "support/group_graph.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace test {

using Numbers = std::map<std::int64_t, std::vector<float>>;
// Gives the rank's part a plan for its member of the group.
using PlanPart = std::function<error_t(RankPart& part, Group const& member, int rank)>;

// The memory of all ranks after a run of these plans.
inline std::vector<Numbers> run_group(WholeAttention const& whole, Layout const& layout, PlanPart const& plan) {
    std::vector<Group> const members = threads_group(layout.ranks());
    std::vector<Numbers> results(members.size());
    std::vector<std::string> errors(members.size());
    on_all_ranks(layout.ranks(), [&](int rank) {
        auto const index = static_cast<std::size_t>(rank);
        RankPart part(whole, layout, rank);
        error_t error = plan(part, members[index], rank);
        if (error.is_good()) error = part.run();
        errors[index] = error.get_message();
        results[index] = part.memory;
    });
    for (std::string const& error : errors) REQUIRE(error == "");
    return results;
}

// The same, of plans that each rank builds.
inline std::vector<Numbers> run_group(WholeAttention const& whole, Layout const& layout,
                                      Group_options const& options = {}) {
    return run_group(whole, layout,
                     [&](RankPart& part, Group const& member, int) { return part.build(member, layout, options); });
}

}  // namespace test
