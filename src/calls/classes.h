// Classes of shapes: calls whose sizes are rounded up to the same numbers share a plan.
#pragma once

#include <sdpa_graph/place.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace sdpa_graph::calls {

inline bool wants_classes(Place const& place, Tensor_view const& tensor) {
    bool const is_on_gpu = tensor.device == Device_kind::CUDA;
    return place.shape_policy == Shape_policy::CLASSES || (place.shape_policy == Shape_policy::AUTO && is_on_gpu);
}

// Sizes of 0 count as 1: a graph has none.
inline std::int64_t power_of_two_from(std::int64_t size) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))));
}

// Short lengths share a class: engines compute whole tiles of rows.
inline std::int64_t bound_of_class(std::int64_t length) {
    constexpr std::int64_t kLeast = 64;
    return std::max(kLeast, power_of_two_from(length));
}

// Few short sequences share a class: empty slots cost little time, and their memory is little. So do not slots with few
// queries: engines divide the keys of a slot among processors if there are few slots.
inline std::int64_t slots_of_class(std::int64_t sequences, std::int64_t bound_of_queries) {
    constexpr std::int64_t kFewQueries = 32, kMostRows = 8192, kMost = 4;
    std::int64_t const least =
        bound_of_queries <= kFewQueries ? 1 : std::clamp<std::int64_t>(kMostRows / bound_of_queries, 1, kMost);
    return std::max(least, power_of_two_from(sequences));
}

}  // namespace sdpa_graph::calls
