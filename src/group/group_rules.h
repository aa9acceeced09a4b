// The rules of groups and of their runs; those of the graphs are in rewrite/group/group_checks.cpp.
// docs/several-gpus.md lists all.
#pragma once

#include "core/findings.h"

#include <string>
#include <utility>

namespace cudnn_frontend::group::rules {

using core::Rule;
using enum error_code_t;

// Rules of how a graph is planned.
inline constexpr Rule kTarget{"group.c12", "The target is where the group exchanges data.", INVALID_VALUE};
inline constexpr Rule kSettings{
    "group.c13",
    "The graph asks for no rewrite, class of shapes, workspace limit, batch invariance or overridden shapes.",
    GRAPH_NOT_SUPPORTED};
inline constexpr Rule kStored{"group.c28",
                              "A stored plan is of the rank, the layouts, the way and the stages of the graph's group.",
                              GRAPH_NOT_SUPPORTED};

// Rules of runs.
inline constexpr Rule kInTime{"group.c14", "All ranks take part in an exchange before the deadline.",
                              GRAPH_EXECUTION_FAILED};
inline constexpr Rule kAgreement{"group.c15", "All ranks run the same step of fitting programs.",
                                 GRAPH_EXECUTION_FAILED};
inline constexpr Rule kWorking{"group.c16", "No rank has failed, left or ended the group.", GRAPH_EXECUTION_FAILED};
inline constexpr Rule kAlone{"group.c17", "A rank runs one graph at a time.", GRAPH_EXECUTION_FAILED};

// Rules of groups and shards.
inline constexpr Rule kSize{"group.c18", "A group has at least one rank, and its ranks count from 0.", INVALID_VALUE};
inline constexpr Rule kNccl{"group.c19", "NCCL 2.18 or later can be loaded, and its calls succeed.",
                            GRAPH_EXECUTION_FAILED};
inline constexpr Rule kShards{"group.c20", "A shard has the dims of the whole tensor, with the rank's tokens.",
                              INVALID_VALUE};
inline constexpr Rule kWhole{"group.c21", "A rank's part is neither verified, nor updated in a CUDA graph.",
                             GRAPH_NOT_SUPPORTED};

// A finding against a rule as an error.
inline error_t violation(Rule const& rule, std::string found, std::string needed, std::string fix) {
    return core::error_of({rule.violation("", "", std::move(found), std::move(needed), std::move(fix))});
}

// The error of every call after a failure.
inline error_t broken(std::string reason) {
    if (reason.ends_with('.')) reason.pop_back();
    return violation(kWorking, "an earlier failure: " + reason, "a group of which every rank works",
                     "make a new group after the cause is gone");
}

}  // namespace cudnn_frontend::group::rules
