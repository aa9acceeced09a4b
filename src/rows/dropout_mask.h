// The mask of dropout for a part of an attention, as the whole attention draws it: docs/spec.md describes the
// generator.
#pragma once

#include "attention/philox_words.h"

namespace cudnn_frontend::rows {

// 1 where a score is kept, 0 where it is dropped, without gaps: {batches, heads, queries, keys}.
struct Dropout_mask {
    static constexpr char const* kName = "dropout_mask";

    struct Integer {
        void const* start;
        bool has_64_bits;
    };

    Integer seed, offset;
    unsigned last_kept;                            // the greatest word that keeps a score
    long long all_heads, all_queries, all_groups;  // of the whole attention; four keys of a query are a group
    long long batches, heads, queries, keys;       // of the part, which starts in these:
    long long first_head, first_query, first_key;
    int const *queries_before, *keys_before;  // where each batch entry starts in them; may be null
    void* mask;
    unsigned one;  // the bits of 1
    bool has_four_bytes;
    float *scale, *inverse;  // of what is kept; the second may be null
    float scale_number, inverse_number;

    // The most groups that a row can have: it may start in the last key of one.
    long long groups() const {
        return keys_before != nullptr ? (keys + 6) / 4 : (first_key + keys + 3) / 4 - first_key / 4;
    }
    long long threads() const { return batches * heads * queries * groups(); }
};

inline unsigned long long value_of(Dropout_mask::Integer const& integer) {
    long long const number =
        integer.has_64_bits ? *static_cast<long long const*>(integer.start) : *static_cast<int const*>(integer.start);
    return static_cast<unsigned long long>(number);
}

inline void work_on(Dropout_mask const& t, long long thread) {
    if (thread == 0) {
        *t.scale = t.scale_number;
        if (t.inverse != nullptr) *t.inverse = t.inverse_number;
    }
    long long const row = thread / t.groups(), query = row % t.queries, head = row / t.queries % t.heads;
    long long const batch = row / t.queries / t.heads;
    long long const first_query = t.first_query + (t.queries_before != nullptr ? t.queries_before[batch] : 0);
    long long const first_key = t.first_key + (t.keys_before != nullptr ? t.keys_before[batch] : 0);
    long long const group = first_key / 4 + thread % t.groups();
    long long const whole_row = (batch * t.all_heads + t.first_head + head) * t.all_queries + first_query + query;
    unsigned long long const counter = static_cast<unsigned long long>(whole_row * t.all_groups + group);
    attention::PhiloxWords const drawn = attention::philox_words(value_of(t.seed), counter, value_of(t.offset));
    for (int i = 0; i < 4; ++i) {
        long long const column = group * 4 + i - first_key;
        if (column < 0 || column >= t.keys) continue;
        unsigned const bits = drawn.words[i] <= t.last_kept ? t.one : 0;
        long long const at = row * t.keys + column;
        if (t.has_four_bytes) static_cast<unsigned*>(t.mask)[at] = bits;
        else static_cast<unsigned short*>(t.mask)[at] = static_cast<unsigned short>(bits);
    }
}

}  // namespace cudnn_frontend::rows
