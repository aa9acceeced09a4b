// The probabilities of a call, for finding out which are dropped.
#pragma once

#include "rows/sequences.h"

#if !defined(__CUDACC_RTC__)  // NVRTC knows expf() without a header
#include <cmath>
#endif

namespace cudnn_frontend::rows {

// Probabilities before dropout, negative where they are dropped, 0 where a sequence has no such row or key.
struct Probabilities {
    static constexpr char const* kName = "probabilities";

    Sequences sequences;
    long long heads, heads_of_key, width;  // heads_of_key: that share a key head
    float scale;
    float const* slopes;        // null without
    long long slopes_of_batch;  // from one sequence to the next
    bool is_sloped_by_key;      // else by the distance from the diagonal
    Access q, k, log_sums;
    float const* kept;  // of all pairs up to these numbers: 0 where dropped
    long long kept_queries, kept_keys;
    void* result;  // all pairs up to these
    long long queries, keys;

    long long threads() const { return sequences.batches * heads * queries * keys; }
};

template <class Element>
float product(Element const* a, Element const* b, long long width) {
    float sum = 0;
    for (long long column = 0; column < width; ++column) sum += to_float(a[column]) * to_float(b[column]);
    return sum;
}

inline float slope_term(Probabilities const& t, long long n, long long head, long long query, long long key) {
    if (t.slopes == nullptr) return 0;
    float const slope = t.slopes[n * t.slopes_of_batch + head];
    if (t.is_sloped_by_key) return slope * static_cast<float>(key);
    long long const distance = query + keys_of(t.sequences, n) - queries_of(t.sequences, n) - key;
    return -slope * static_cast<float>(distance < 0 ? -distance : distance);
}

inline Row row_at(int const* totals, long long n, long long longest, long long position) {
    return {true, n, (totals == nullptr ? n * longest : totals[n]) + position, position};
}

template <class Element>
float probability(Probabilities const& t, long long n, long long head, long long query, long long key) {
    Sequences const& all = t.sequences;
    if (query >= queries_of(all, n) || key >= keys_of(all, n) || !sees(all, n, query, key)) return 0;
    Row const of_query = row_at(all.totals_q, n, all.queries, query), of_key = row_at(all.totals_k, n, all.keys, key);
    float const score = t.scale * product(t.q.pointer<Element>(of_query, head),
                                          t.k.pointer<Element>(of_key, head / t.heads_of_key), t.width);
    float const log_sum = *t.log_sums.pointer<float>(of_query, head);
    float const result = expf(score + slope_term(t, n, head, query, key) - log_sum);
    bool const is_kept = t.kept[((n * t.heads + head) * t.kept_queries + query) * t.kept_keys + key] != 0;
    return is_kept ? result : -result;
}

template <class Element>
void work_on(Probabilities const& t, long long thread) {
    long long const key = thread % t.keys, query = thread / t.keys % t.queries;
    long long const head = thread / t.keys / t.queries % t.heads, n = thread / t.keys / t.queries / t.heads;
    assign(static_cast<Element*>(t.result)[thread], probability<Element>(t, n, head, query, key));
}

}  // namespace cudnn_frontend::rows
