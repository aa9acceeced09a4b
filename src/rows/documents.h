// Documents that are packed one after the other, of which a part of a longer attention has some queries and some keys.
#pragma once

#include "rows/tables.h"

namespace cudnn_frontend::rows {

// How much of each document a part has, and where that starts in the part's tensors. A document without queries or
// without keys there is empty.
struct Documents {
    static constexpr char const* kName = "documents";

    struct Side {
        void const* starts;  // one more than there are documents, each `unit` of `row` elements of a token
        bool has_64_bits;
        long long unit, row;
        int const* lengths;
        long long first, end;  // the part's tokens
        int *used, *totals;    // results: lengths, and the first token of each document in the part
        int* before;           // and how many of the document's tokens lie before the part; may be null
    };
    struct Starts {
        long long* result;  // the same in elements
        long long by_row;
        bool is_of_keys;
    };

    Side queries, keys;
    long long batches;
    Starts starts[kMostOffsets];
    int start_count;

    long long threads() const { return batches + 1; }
};

inline long long place_in(Documents::Side const& side, long long token) {
    return cut(token - side.first, side.end - side.first);
}

inline long long first_token(Documents::Side const& side, long long document) {
    long long const start = side.has_64_bits ? static_cast<long long const*>(side.starts)[document]
                                             : static_cast<int const*>(side.starts)[document];
    return start * side.unit / side.row;
}

inline void count_before(Documents::Side const& side, long long document, long long token) {
    if (side.before != nullptr) side.before[document] = static_cast<int>(cut(side.first - token, side.first));
}

inline void work_on(Documents const& t, long long document) {
    long long const query = first_token(t.queries, document), key = first_token(t.keys, document);
    long long const first_query = place_in(t.queries, query), first_key = place_in(t.keys, key);
    if (document < t.batches) {
        long long const queries = place_in(t.queries, query + t.queries.lengths[document]) - first_query;
        long long const keys = place_in(t.keys, key + t.keys.lengths[document]) - first_key;
        bool const is_empty = queries <= 0 || keys <= 0;
        t.queries.used[document] = static_cast<int>(is_empty ? 0 : queries);
        t.keys.used[document] = static_cast<int>(is_empty ? 0 : keys);
        count_before(t.queries, document, query);
        count_before(t.keys, document, key);
    }
    t.queries.totals[document] = static_cast<int>(first_query);
    t.keys.totals[document] = static_cast<int>(first_key);
    for (int i = 0; i < t.start_count; ++i) {
        Documents::Starts const& starts = t.starts[i];
        starts.result[document] = (starts.is_of_keys ? first_key : first_query) * starts.by_row;
    }
}

}  // namespace cudnn_frontend::rows
