// What a graph of packed sequences reads beside the caller's tensors, from what the caller passes.
#pragma once

namespace cudnn_frontend::rows {

inline constexpr int kMostOffsets = 9;  // one for each tensor with rows

// Where sequences start in tensors whose rows lie so many elements apart.
struct Offsets {
    long long* result;  // one more than there are sequences
    long long row;
    bool is_of_keys;
};

// A page of the caller's is so many pages of the graph, of which the caller's next one starts `step` further.
struct Pages {
    int const* table;   // null without pages
    long long columns;  // from one sequence of the table to the next
    long long rows, parts, step;
    int* result;
    long long result_columns;
};

struct Tables {
    static constexpr char const* kName = "tables";

    int const *totals_q, *totals_k, *used_k;  // used_k may be null
    long long batches, queries, keys;         // queries and keys: the most that a sequence may have
    int *lengths_q, *lengths_k;
    Offsets offsets[kMostOffsets];
    int offset_count;
    Pages pages;

    long long threads() const {
        long long const entries = pages.table == nullptr ? 0 : batches * pages.result_columns;
        return entries > batches ? entries : batches + 1;
    }
};

inline int clamped(long long length, long long most) {
    return static_cast<int>(length < 0 ? 0 : length > most ? most : length);
}

inline int length_of_keys(Tables const& t, long long n) {
    return clamped(t.used_k != nullptr ? t.used_k[n] : t.totals_k[n + 1] - t.totals_k[n], t.keys);
}

// Entries past a sequence's keys are not read: they may be anything.
inline int page_of(Tables const& t, long long n, long long column) {
    Pages const& pages = t.pages;
    if (column * pages.rows >= length_of_keys(t, n)) return 0;
    long long const page = pages.table[n * pages.columns + column / pages.parts];
    return static_cast<int>(page * pages.step + column % pages.parts);
}

inline void work_on(Tables const& t, long long thread) {
    if (thread < t.batches) {
        t.lengths_q[thread] = clamped(t.totals_q[thread + 1] - t.totals_q[thread], t.queries);
        t.lengths_k[thread] = length_of_keys(t, thread);
    }
    for (int i = 0; i < t.offset_count && thread <= t.batches; ++i) {
        Offsets const& offsets = t.offsets[i];
        offsets.result[thread] = (offsets.is_of_keys ? t.totals_k : t.totals_q)[thread] * offsets.row;
    }
    if (t.pages.table != nullptr && thread < t.batches * t.pages.result_columns)
        t.pages.result[thread] = page_of(t, thread / t.pages.result_columns, thread % t.pages.result_columns);
}

}  // namespace cudnn_frontend::rows
