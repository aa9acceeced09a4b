// The gradients that backward writes in addition to its graph.
#pragma once

#include "rows/log_sums.h"

namespace cudnn_frontend::rows {

// Gradients of 0 for queries to which no key is visible, whatever the graph wrote there.
struct Unseeing_queries {
    Sequences sequences;
    long long rows, heads, width;
    Access dq;

    long long threads() const { return rows * heads; }
};

// The same for keys that are visible to no query.
struct Unseen_keys {
    Sequences sequences;
    long long rows, heads, width;
    Access dk, dv;

    long long threads() const { return rows * heads; }
};

// The sum of dout * out over a row, times the share of probabilities that is kept.
struct Softmax_d {
    static constexpr char const* kName = "softmax_d";

    Sequences sequences;
    long long rows, heads, width;
    Access dout, out, result;
    float kept;

    long long threads() const { return rows * heads; }
};

inline void work_on(Unseeing_queries const& t, long long thread) {
    Row const row = find_query(t.sequences, thread % t.rows);
    if (row.is_inside && !sees_any_key(t.sequences, row)) clear(t.dq, row, thread / t.rows, t.width);
}

inline void work_on(Unseen_keys const& t, long long thread) {
    Row const row = find_key(t.sequences, thread % t.rows);
    if (!row.is_inside || is_seen_by_any_query(t.sequences, row)) return;
    clear(t.dk, row, thread / t.rows, t.width);
    clear(t.dv, row, thread / t.rows, t.width);
}

template <class Element>
void work_on(Softmax_d const& t, long long thread) {
    long long const head = thread % t.heads;
    Row const row = find_query(t.sequences, thread / t.heads);
    if (!row.is_inside) return;
    auto const* const dout = t.dout.pointer<Element>(row, head);
    auto const* const out = t.out.pointer<Element>(row, head);
    float sum = 0;
    for (long long column = 0; column < t.width; ++column) sum += to_float(dout[column]) * to_float(out[column]);
    *t.result.pointer<float>(row, head) = t.kept * sum;
}

}  // namespace cudnn_frontend::rows
