// The work of a pass in addition to its graph, in one launch before it and one after it.
#pragma once

#include "rows/copies.h"
#include "rows/gradients.h"
#include "rows/log_sums.h"
#include "rows/tables.h"

namespace cudnn_frontend::rows {

// Two works at once: neither reads the results of the other. One without rows is left out.
template <class First, class Second>
struct Both {
    First first;
    Second second;

    long long threads() const { return first.threads() + second.threads(); }
};

template <class First, class Second>
void work_on(Both<First, Second> const& t, long long thread) {
    long long const of_first = t.first.threads();
    if (thread < of_first) work_on(t.first, thread);
    else work_on(t.second, thread - of_first);
}

// The work before a plan of packed sequences; queries that are gathered are copied.
struct Forward_start : Both<Tables, Copy> {
    static constexpr char const* kName = "forward_start";
};

struct Forward_end : Both<Log_sums_out, Copy> {
    static constexpr char const* kName = "forward_end";
};

// The work before a plan of backward of packed sequences.
struct Backward_start : Both<Tables, Log_sums_in> {
    static constexpr char const* kName = "backward_start";
};

struct Backward_end : Both<Unseeing_queries, Unseen_keys> {
    static constexpr char const* kName = "backward_end";
};

}  // namespace cudnn_frontend::rows
