// Rows and numbers that are moved or set.
#pragma once

#include "rows/sequences.h"

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

}  // namespace cudnn_frontend::rows
