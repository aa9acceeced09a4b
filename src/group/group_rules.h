// The rules of graphs that a group computes. docs/several-gpus.md lists them.
#pragma once

#include "core/findings.h"

#include <string>
#include <utility>

namespace cudnn_frontend::group::rules {

using core::Rule;
using enum error_code_t;

// Rules of graphs.
inline constexpr Rule kAttention{"group.c01",
                                 "The graph is one attention, or its backward, and operations that modify its scores.",
                                 GRAPH_NOT_SUPPORTED};
inline constexpr Rule kMember{"group.c02", "The group has this process as a rank, and the layouts have its ranks.",
                              INVALID_VALUE};
inline constexpr Rule kLayout{"group.c03", "A layout gives each token to one rank, and each rank some.", INVALID_VALUE};
inline constexpr Rule kRows{"group.c04", "Q has as many rows as the rank has tokens, and so have K and V.",
                            INVALID_VALUE};
inline constexpr Rule kOperands{
    "group.c05",
    "No tensor is connected except Q, K, V, O, Stats, Max, Sum_exp, dO, attn_scale, a sink token, a bias that all keys "
    "share, lengths, the seed and the offset of dropout, dQ, dK, dV and dSink_token.",
    GRAPH_NOT_SUPPORTED};
inline constexpr Rule kDense{"group.c06", "All tensors of tokens are packed by lengths, or none; none is in blocks.",
                             GRAPH_NOT_SUPPORTED};
inline constexpr Rule kVisible{"group.c07", "Each query sees a key.", GRAPH_NOT_SUPPORTED};
inline constexpr Rule kResults{"group.c08", "There is memory for O, in backward for dQ, dK and dV.",
                               GRAPH_NOT_SUPPORTED};
inline constexpr Rule kModifier{"group.c22", "All keys share the tensors that a score modifier reads.",
                                GRAPH_NOT_SUPPORTED};
inline constexpr Rule kHeads{
    "group.c10",
    "By ALL_TO_ALL the number of ranks divides the numbers of heads of K and V, and all queries share a bias and what "
    "a score modifier reads.",
    GRAPH_NOT_SUPPORTED};
inline constexpr Rule kStages{"group.c11", "The number of stages divides the numbers of heads of K and V.",
                              INVALID_VALUE};
inline constexpr Rule kTarget{"group.c12", "The target is where the group exchanges data.", INVALID_VALUE};
inline constexpr Rule kSettings{"group.c13",
                                "The graph asks for no rewrite, class of shapes, workspace limit or overridden shapes.",
                                GRAPH_NOT_SUPPORTED};

inline constexpr Rule kLengths{
    "group.c23", "By GATHER lengths are INT32 and no sums, and with them a diagonal starts at the top left.",
    GRAPH_NOT_SUPPORTED};
inline constexpr Rule kDocuments{"group.c24",
                                 "Packed tensors have rows of all heads, INT32 lengths that are no sums, neither a "
                                 "bias nor tensors of score modifiers "
                                 "with rows of queries, and with bounds as many queries as keys.",
                                 GRAPH_NOT_SUPPORTED};
inline constexpr Rule kGatheredDocuments{
    "group.c25",
    "By GATHER packed queries and keys share one tensor of lengths, bounds are causal, and scores do not depend on "
    "positions.",
    GRAPH_NOT_SUPPORTED};
inline constexpr Rule kDropout{"group.c26", "The seed and the offset of dropout are in memory.", GRAPH_NOT_SUPPORTED};

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
inline constexpr Rule kWhole{"group.c21", "What needs the whole attention is not asked of a rank's part.",
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
