// Where the sequences of a ragged tensor lie.
#pragma once

#include <cstdint>
#include <vector>

namespace cudnn_frontend::plan {

// Elements from the tensor's address to the sequence, and its rows.
struct PackedSequence {
    std::int64_t start, rows;
};
using PackedSequences = std::vector<PackedSequence>;

}  // namespace cudnn_frontend::plan
