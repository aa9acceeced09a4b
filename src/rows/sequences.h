// Which row of a tensor belongs to which sequence, and which keys are visible to which queries. Like all headers of
// this layer except worker.h and host_worker.h this is C++ and CUDA C++ alike, so that hosts and GPUs run one source.
#pragma once

namespace cudnn_frontend::rows {

// Packed sequences are given by totals: the first row of each, and the end of the last one. Padded ones all have room
// for the longest.
struct Sequences {
    int const *totals_q, *totals_k;    // null where padded
    int const *used_q, *used_k;        // how many of its rows a sequence has in use; null for all
    long long batches, queries, keys;  // queries and keys: the longest; packed sequences are cut to them
    long long left, right;             // of the window, from the diagonal that ends at the last ones; -1 for no bound
};

struct Row {
    bool is_inside;  // of a sequence
    long long sequence, row, position;
};

// Access to a tensor's elements by row and head. The start of a sequence's rows is in one of the first two strides.
struct Access {
    void* start;
    long long by_sequence, by_row, by_position, by_head;

    long long offset(Row const& at, long long head) const {
        return at.sequence * by_sequence + at.row * by_row + at.position * by_position + head * by_head;
    }
    template <class Element>
    Element* pointer(Row const& at, long long head) const {
        return static_cast<Element*>(start) + offset(at, head);
    }
};

inline long long cut(long long length, long long most) { return length < 0 ? 0 : length > most ? most : length; }

inline long long length_of(int const* totals, int const* used, long long longest, long long n) {
    if (used != nullptr) return cut(used[n], longest);
    return totals == nullptr ? longest : cut(totals[n + 1] - totals[n], longest);
}
inline long long queries_of(Sequences const& all, long long n) {
    return length_of(all.totals_q, all.used_q, all.queries, n);
}
inline long long keys_of(Sequences const& all, long long n) { return length_of(all.totals_k, all.used_k, all.keys, n); }

inline Row find_row(int const* totals, long long batches, long long longest, long long row) {
    if (totals == nullptr) return {true, row / longest, row, row % longest};
    long long first = 0, end = batches;
    while (end - first > 1) {
        long long const middle = (first + end) / 2;
        if (totals[middle] <= row) first = middle;
        else end = middle;
    }
    return {totals[first] <= row && row < totals[first + 1], first, row, row - totals[first]};
}

inline Row find_query(Sequences const& all, long long row) {
    Row found = find_row(all.totals_q, all.batches, all.queries, row);
    found.is_inside = found.is_inside && found.position < queries_of(all, found.sequence);
    return found;
}
inline Row find_key(Sequences const& all, long long row) {
    Row found = find_row(all.totals_k, all.batches, all.keys, row);
    found.is_inside = found.is_inside && found.position < keys_of(all, found.sequence);
    return found;
}

inline bool sees(Sequences const& all, long long sequence, long long query, long long key) {
    long long const diagonal = query + keys_of(all, sequence) - queries_of(all, sequence);
    return (all.left < 0 || key >= diagonal - all.left) && (all.right < 0 || key <= diagonal + all.right);
}

inline bool sees_any_key(Sequences const& all, Row const& query) {
    long long const keys = keys_of(all, query.sequence);
    long long const diagonal = query.position + keys - queries_of(all, query.sequence);
    long long const first = all.left < 0 || diagonal < all.left ? 0 : diagonal - all.left;
    long long const last = all.right < 0 || diagonal + all.right >= keys ? keys - 1 : diagonal + all.right;
    return first <= last;
}

inline bool is_seen_by_any_query(Sequences const& all, Row const& key) {
    long long const queries = queries_of(all, key.sequence);
    long long const diagonal = key.position - keys_of(all, key.sequence) + queries;
    long long const first = all.right < 0 || diagonal < all.right ? 0 : diagonal - all.right;
    long long const last = all.left < 0 || diagonal + all.left >= queries ? queries - 1 : diagonal + all.left;
    return first <= last;
}

}  // namespace cudnn_frontend::rows
