// The sequences of a packed call in host memory.
#pragma once

#include "flash/call.h"

#include <span>
#include <vector>

namespace sdpa_graph::flash {

inline std::span<std::int32_t const> integers_of(Tensor_view const& view) {
    return {static_cast<std::int32_t const*>(view.data), static_cast<std::size_t>(view.dim[0])};
}

struct Lengths {
    std::vector<std::int64_t> q, k;
};

// What cu_seqlens and seqused_k say, whether or not it makes sense.
Lengths lengths_of(Call const& call);

// The size of pages. Graphs take pages of a power of two of rows: others are
// seen as several smaller ones each.
struct Pages {
    std::int64_t rows;     // of a page that the graph sees
    std::int64_t parts;    // of each page of the caller's
    std::int64_t step;     // from one of the caller's to the next, in the graph's
    std::int64_t count;    // that k and v have
    std::int64_t columns;  // of the caller's table
};

Pages pages_of(Call const& call);

// Whether pages of the caller's begin at whole pages of the graph's.
bool has_whole_steps(Call const& call, Argument argument);

}  // namespace sdpa_graph::flash
