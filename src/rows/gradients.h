// What backward writes beside its graph.
#pragma once

#include "rows/log_sums.h"

namespace cudnn_frontend::rows {

// Gradients of 0 for queries that see no key, or for keys that no query sees, whatever the graph wrote there.
struct Unseen {
    static constexpr char const* kName = "unseen";

    Sequences sequences;
    bool is_of_keys;
    long long rows, heads, width;
    Access first, second;  // dq and nothing, or dk and dv

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

inline void work_on(Unseen const& t, long long thread) {
    long long const head = thread / t.rows, row = thread % t.rows;
    Row const at = t.is_of_keys ? find_key(t.sequences, row) : find_query(t.sequences, row);
    if (!at.is_inside) return;
    if (t.is_of_keys ? is_seen_by_any_query(t.sequences, at) : sees_any_key(t.sequences, at)) return;
    clear(t.first, at, head, t.width);
    if (t.second.start != nullptr) clear(t.second, at, head, t.width);
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
