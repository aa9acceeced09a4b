// The tables that a graph of packed sequences reads besides the caller's tensors, computed from the caller's arguments.
#pragma once

#include "rows/sequences.h"

namespace cudnn_frontend::rows {

inline constexpr int kMostOffsets = 9;  // one for each tensor with rows

// The starts of sequences in tensors whose rows have this distance in elements.
struct Offsets {
    long long* result;  // one more than there are sequences
    long long row;
    bool is_of_keys;
};

// A page of the caller's is this many pages of the graph, of which the caller's next one starts `step` further.
struct Pages {
    int const* table;   // null without pages
    long long columns;  // from one sequence of the table to the next
    long long rows, parts, step;
    int* result;
    long long result_columns;
};

struct Tables {
    Sequences sequences;
    int *lengths_q, *lengths_k;
    int* squares;  // null, or the lengths of sequences with as many queries as keys, which count as empty above
    Offsets offsets[kMostOffsets];
    int offset_count;
    Pages pages;

    long long threads() const {
        long long const entries = pages.table == nullptr ? 0 : sequences.batches * pages.result_columns;
        return entries > sequences.batches ? entries : sequences.batches + 1;
    }
};

// Entries past a sequence's keys are not read: they may be anything.
inline int page_of(Tables const& t, long long n, long long column) {
    Pages const& pages = t.pages;
    if (column * pages.rows >= keys_of(t.sequences, n)) return 0;
    long long const page = pages.table[n * pages.columns + column / pages.parts];
    return static_cast<int>(page * pages.step + column % pages.parts);
}

inline void work_on(Tables const& t, long long thread) {
    Sequences const& all = t.sequences;
    if (thread < all.batches) {
        int const queries = static_cast<int>(queries_of(all, thread)), keys = static_cast<int>(keys_of(all, thread));
        bool const is_apart = t.squares != nullptr && queries == keys;
        t.lengths_q[thread] = is_apart ? 0 : queries;
        t.lengths_k[thread] = is_apart ? 0 : keys;
        if (t.squares != nullptr) t.squares[thread] = is_apart ? queries : 0;
    }
    for (int i = 0; i < t.offset_count && thread <= all.batches; ++i) {
        Offsets const& offsets = t.offsets[i];
        offsets.result[thread] = (offsets.is_of_keys ? all.totals_k : all.totals_q)[thread] * offsets.row;
    }
    if (t.pages.table != nullptr && thread < all.batches * t.pages.result_columns)
        t.pages.result[thread] = page_of(t, thread / t.pages.result_columns, thread % t.pages.result_columns);
}

}  // namespace cudnn_frontend::rows
