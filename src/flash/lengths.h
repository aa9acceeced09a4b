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

// The numbers in cu_seqlens and seqused_k, whether or not they make sense.
Lengths lengths_of(Call const& call);

// The size of pages. Graphs accept pages of a power of two of rows: a page of another size is several smaller ones in
// the graph.
struct PageParts {
    std::int64_t rows;     // in a page of the graph
    std::int64_t parts;    // the graph's pages in each of the caller's
    std::int64_t step;     // from one of the caller's pages to the next, in the graph's pages
    std::int64_t count;    // pages in k and v
    std::int64_t columns;  // of the caller's table
};

PageParts pages_of(Call const& call);

// Whether the caller's pages begin at whole pages of the graph.
bool has_whole_steps(Call const& call, Argument argument);

}  // namespace sdpa_graph::flash
