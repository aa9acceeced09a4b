// Dims and strides of tensors, with arithmetic that detects overflow.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace cudnn_frontend::core
