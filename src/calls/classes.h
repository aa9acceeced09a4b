// Classes of shapes: calls whose sizes are rounded up to the same numbers share a plan.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sdpa_graph::calls {

// Sizes of 0 count as 1: a graph has none.
inline std::int64_t slots_of_class(std::int64_t sequences) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(sequences, 1))));
}

// Short lengths share a class: engines compute whole tiles of rows.
inline std::int64_t bound_of_class(std::int64_t length) {
    constexpr std::int64_t kLeast = 64;
    return std::max(kLeast, slots_of_class(length));
}

}  // namespace sdpa_graph::calls
