// The tables that a graph of packed sequences reads besides the caller's tensors, computed from the caller's arguments.
// The graph has a slot for each sequence, or for each of its heads; the slots after the last sequence are empty.
#pragma once

#include "rows/sequences.h"

namespace cudnn_frontend::rows {

inline constexpr int kMostOffsets = 9;  // one for each tensor with rows

// Where the slots start in a tensor, in elements.
struct Offsets {
    long long* result;                       // one more than there are slots
    long long by_sequence, by_row, by_head;  // distances: of padded sequences, of rows of packed ones, of heads
    long long heads_together;                // slots that share a head
    bool is_of_keys;
    // Null, or where the sequences start, and the last one ends, in units of so many elements.
    void const* given;
    long long unit;
    bool is_given_in_64_bits;
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
    long long slots, slots_of_sequence;
    int *lengths_q, *lengths_k;
    int* squares;  // null, or the lengths of sequences with as many queries as keys, which count as empty above
    Offsets offsets[kMostOffsets];
    int offset_count;
    Pages pages;

    long long threads() const {
        long long const entries = pages.table == nullptr ? 0 : slots * pages.result_columns;
        return entries > slots ? entries : slots + 1;
    }
};

// Entries past a sequence's keys are not read: they may be anything.
inline int page_of(Tables const& t, long long n, long long column) {
    Pages const& pages = t.pages;
    if (n >= t.sequences.batches || column * pages.rows >= keys_of(t.sequences, n)) return 0;
    long long const page = pages.table[n * pages.columns + column / pages.parts];
    return static_cast<int>(page * pages.step + column % pages.parts);
}

inline long long given_start(Offsets const& offsets, long long sequence) {
    long long const units = offsets.is_given_in_64_bits ? static_cast<long long const*>(offsets.given)[sequence]
                                                        : static_cast<int const*>(offsets.given)[sequence];
    return units * offsets.unit;
}

inline long long start_of(Tables const& t, Offsets const& offsets, long long slot) {
    long long const sequence = slot / t.slots_of_sequence, head = slot % t.slots_of_sequence;
    bool const is_empty = sequence >= t.sequences.batches;
    long long const row = is_empty ? t.sequences.batches : sequence;
    if (offsets.given != nullptr) return given_start(offsets, row);
    int const* const totals = offsets.is_of_keys ? t.sequences.totals_k : t.sequences.totals_q;
    long long const start = totals == nullptr ? row * offsets.by_sequence : totals[row] * offsets.by_row;
    return is_empty ? start : start + head / offsets.heads_together * offsets.by_head;
}

inline void work_on(Tables const& t, long long thread) {
    Sequences const& all = t.sequences;
    if (thread < t.slots) {
        long long const sequence = thread / t.slots_of_sequence;
        bool const is_empty = sequence >= all.batches;
        int const queries = is_empty ? 0 : static_cast<int>(queries_of(all, sequence));
        int const keys = is_empty ? 0 : static_cast<int>(keys_of(all, sequence));
        bool const is_apart = t.squares != nullptr && queries == keys;
        t.lengths_q[thread] = is_apart ? 0 : queries;
        t.lengths_k[thread] = is_apart ? 0 : keys;
        if (t.squares != nullptr) t.squares[thread] = is_apart ? queries : 0;
    }
    for (int i = 0; i < t.offset_count && thread <= t.slots; ++i)
        t.offsets[i].result[thread] = start_of(t, t.offsets[i], thread);
    if (t.pages.table != nullptr && thread < t.slots * t.pages.result_columns)
        t.pages.result[thread] = page_of(t, thread / t.pages.result_columns, thread % t.pages.result_columns);
}

}  // namespace cudnn_frontend::rows
