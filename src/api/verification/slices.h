// Parts of a large attention that the reference computes alone: some rows with all keys that are visible to them, or
// some keys with all rows to which they are visible, of one batch entry and few heads.
#pragma once

#include "api/verification/problem.h"

#include <optional>

namespace cudnn_frontend::verification {

struct SlicePart {
    std::int64_t batch = 0, first_head = 0, heads = 1;  // of Q
    bool is_of_keys = false;                            // whether `first` and `count` are keys, for dK and dV
    std::int64_t first = 0, count = 1;
};

struct ProblemSlice {
    Problem problem;  // dense, of one batch entry, with a mask whose bounds count from the slice's corner
    // The results that it computes as the whole graph does, by uid, with the index of the slice's first element.
    std::map<std::int64_t, Dims> origins;
};

// Whether parts of the graph can be computed alone: a single attention node, and no option that counts positions in
// the whole of the scores, such as generated dropout.
bool can_be_sliced(Problem const& problem);

// Nothing where no key is visible to the rows, or no row to the keys.
std::optional<ProblemSlice> slice(Problem const& problem, SlicePart const& part);

// The sums of squares of weights by batch entry, and by row or by key, if all keys that are visible to a row weigh the
// same.
std::vector<std::vector<double>> squares_of_weights(Problem const& problem, nodes::Node const& node, bool is_of_keys);

// Parts across the batch, the heads and the sequences, with about so many scores in all; none where no batch entry has
// rows and keys.
std::vector<SlicePart> sample(Problem const& problem, std::int64_t scores);

// A part with that element of a result.
SlicePart part_around(Problem const& problem, TensorId result, Dims const& index, std::int64_t scores);

}  // namespace cudnn_frontend::verification
