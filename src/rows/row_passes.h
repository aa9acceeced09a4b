// Work on rows that a pass does in addition to its graph: rows that are copied or set, log-sum-exps, gradients, and the
// works that are one launch before or after the graph. A log-sum-exp passes as its bits: none is computed with.
#pragma once

#include "rows/sequences.h"
#include "rows/tables.h"

namespace cudnn_frontend::rows {

// Queries, or their outputs, from one layout to another, in chunks of 16 bytes, to which the rows of both are aligned;
// zeros where no key is visible to a query, whatever was there.
struct Copy {
    struct alignas(16) Chunk {
        unsigned words[4];
    };

    Sequences sequences;
    long long rows, heads, chunks;  // chunks: of a row of one head
    Access from, to;

    long long threads() const { return rows * heads * chunks; }
};

// All elements of a tensor, of two or four bytes each.
struct Fill {
    static constexpr char const* kName = "fill";

    void* start;
    long long count;
    long long sizes[4], strides[4];  // from the innermost dim on
    unsigned bits;
    bool has_four_bytes;

    long long threads() const { return count; }
};

inline void work_on(Copy const& t, long long thread) {
    long long const chunk = thread % t.chunks, head = thread / t.chunks % t.heads;
    Row const row = find_query(t.sequences, thread / t.chunks / t.heads);
    if (!row.is_inside) return;
    auto const* const from = reinterpret_cast<Copy::Chunk const*>(t.from.pointer<unsigned short>(row, head));
    auto* const to = reinterpret_cast<Copy::Chunk*>(t.to.pointer<unsigned short>(row, head));
    to[chunk] = sees_any_key(t.sequences, row) ? from[chunk] : Copy::Chunk{};
}

inline void work_on(Fill const& t, long long thread) {
    long long offset = 0, rest = thread;
    for (int dim = 0; dim < 4; ++dim) {
        offset += rest % t.sizes[dim] * t.strides[dim];
        rest /= t.sizes[dim];
    }
    if (t.has_four_bytes) static_cast<unsigned*>(t.start)[offset] = t.bits;
    else static_cast<unsigned short*>(t.start)[offset] = static_cast<unsigned short>(t.bits);
}

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
