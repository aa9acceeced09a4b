// Runs the attention of a case by a group of threads, each with its shards of the tensors.
#pragma once

#include "reference/checks/session.h"

#include <sdpa_graph/group.h>

#include <functional>
#include <memory>
#include <vector>

namespace sdpa_test {

// A rank's part of a tensor, for its pack.
struct RankTensor {
    std::int64_t uid;
    HostTensor memory;
    bool is_by_value;
};

// Where the ranks run, if not as threads on the setup's target: each in a thread of its own, which calls enter() first.
class GroupPlaces {
   public:
    virtual ~GroupPlaces() = default;
    virtual error_t make_members(std::vector<sdpa_graph::Group>& members) = 0;
    virtual void enter(int rank) = 0;
    // Held while the ranks run, but not while they plan.
    virtual std::shared_ptr<void> take_turn() { return nullptr; }
    virtual Target target(int rank) = 0;
    virtual error_t execute(int rank, Graph const& graph, std::vector<RankTensor> const& tensors) = 0;
};

struct GroupSetup {
    int ranks = 2;
    sdpa_graph::Layout queries = {}, keys = {};
    sdpa_graph::Group_way way = sdpa_graph::Group_way::AUTO;
    int stages = 0;
    bool shares_lengths = false;   // one tensor of lengths for queries and keys
    bool leaves_out_dump = false;  // ranks do not write the mask of dropout
    bool has_rows_first = false;   // shards in the order batch, rows, heads
    Target target = Target::cpu(1);
    GroupPlaces* places = nullptr;
    std::int64_t deadline_milliseconds = 60000;
};

// Splits the session's tensors, runs, and joins the results in the session's memory. The graph needs explicit uids. An
// error is that of the first rank that has one.
error_t run_in_group(Session const& whole, GroupSetup const& setup);

// The errors with which the ranks refuse to build the graph; empty for a rank that builds it.
std::vector<std::string> refusals_in_group(Session const& whole, GroupSetup const& setup);

// Calls body(rank) for each rank, each in a thread of its own, and waits for all.
void on_all_ranks(int ranks, std::function<void(int rank)> const& body);

}  // namespace sdpa_test
