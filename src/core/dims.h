// Dims and strides of tensors, with arithmetic that detects overflow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::core {

using Dims = std::vector<std::int64_t>;

inline constexpr std::size_t kMaxRank = 8;  // of a tensor

// The product of the sizes, empty on overflow. An empty list has one element.
std::optional<std::int64_t> volume(Dims const& dim);

// One past the largest element index that the strides reach, empty on overflow. All sizes are positive.
std::optional<std::int64_t> span_of(Dims const& dim, Dims const& stride);

// Row-major strides without gaps.
Dims packed_strides(Dims const& dim);

// Whether two different indices can reach one element. Exact for nested strides; any other layout counts as
// overlapping.
bool overlaps_itself(Dims const& dim, Dims const& stride);

// Whether the list has each index from 0 to count - 1 once.
bool is_permutation(Dims const& list, std::size_t count);

// The sizes or strides in that order: element d is element permutation[d] of the list.
Dims permuted(Dims const& list, Dims const& permutation);

// Whether each size is 1 or that of the other list; the lists are aligned at the last size.
bool broadcasts_to(Dims const& from, Dims const& to);

std::string to_string(Dims const& dim);                // [2, 8, 512, 128]
std::string to_string(std::vector<bool> const& list);  // [true, false]

// Arithmetic of sizes that stays at the largest number where the result would be larger.
inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace cudnn_frontend::core
