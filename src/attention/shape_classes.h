// Classes of shapes: attentions whose sizes are rounded up to the same numbers share a plan. That plan is of packed
// sequences, with a slot for each sequence or for each of its heads; slots past the last sequence are empty.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace cudnn_frontend::attention {

// Sizes of 0 count as 1: a graph has none.
inline std::int64_t power_of_two_from(std::int64_t size) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1))));
}

// Short lengths share a class: engines compute whole tiles of rows.
inline std::int64_t bound_of_class(std::int64_t length) {
    constexpr std::int64_t kLeast = 64;
    return std::max(kLeast, power_of_two_from(length));
}

// Few queries are a case of their own for engines and for rewrites.
inline constexpr std::int64_t kFewQueries = 32;
inline std::int64_t bound_of_queries(std::int64_t queries) {
    return queries <= kFewQueries ? power_of_two_from(queries) : bound_of_class(queries);
}

// Few short sequences share a class: empty slots cost little time, and their memory is little. So do not slots with few
// queries: engines divide the keys of a slot among processors if there are few slots.
inline std::int64_t slots_of_class(std::int64_t sequences, std::int64_t bound_of_queries) {
    constexpr std::int64_t kMostRows = 8192, kMost = 4;
    std::int64_t const least =
        bound_of_queries <= kFewQueries ? 1 : std::clamp<std::int64_t>(kMostRows / bound_of_queries, 1, kMost);
    return std::max(least, power_of_two_from(sequences));
}

}  // namespace cudnn_frontend::attention
