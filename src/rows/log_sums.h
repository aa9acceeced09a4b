// Log-sum-exps, and rows without visible keys. A log-sum-exp passes as its bits: none is computed with.
#pragma once

#include "rows/sequences.h"

namespace cudnn_frontend::rows {

// The log-sum-exps of the graph in the caller's order. A query to which no key is visible gets +infinity, and an output
// of 0, whatever the graph wrote there.
struct Log_sums_out {
    Sequences sequences;
    long long rows, heads, width;
    Access from;  // nowhere where the graph wrote in place
    Access log_sums;
    Access out;  // nowhere where it is not written here

    long long threads() const { return rows * heads; }
};

// The log-sum-exps in the order of the graph.
struct Log_sums_in {
    Sequences sequences;
    long long rows, heads;
    Access log_sums, to;

    long long threads() const { return rows * heads; }
};

inline void clear(Access const& tensor, Row const& row, long long head, long long width) {
    auto* const elements = tensor.pointer<unsigned short>(row, head);
    for (long long column = 0; column < width; ++column) elements[column] = 0;
}

inline void work_on(Log_sums_out const& t, long long thread) {
    long long const head = thread / t.rows;
    Row const row = find_query(t.sequences, thread % t.rows);
    if (!row.is_inside) return;
    constexpr unsigned kInfinity = 0x7f800000u;
    unsigned* const log_sum = t.log_sums.pointer<unsigned>(row, head);
    if (sees_any_key(t.sequences, row)) {
        if (t.from.start != nullptr) *log_sum = *t.from.pointer<unsigned>(row, head);
        return;
    }
    *log_sum = kInfinity;
    if (t.out.start != nullptr) clear(t.out, row, head, t.width);
}

inline void work_on(Log_sums_in const& t, long long thread) {
    long long const head = thread / t.rows;
    Row const row = find_query(t.sequences, thread % t.rows);
    if (row.is_inside) *t.to.pointer<unsigned>(row, head) = *t.log_sums.pointer<unsigned>(row, head);
}

}  // namespace cudnn_frontend::rows
