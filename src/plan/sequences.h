// Where the sequences of a ragged tensor are.
#pragma once

#include <cstdint>
#include <vector>

namespace cudnn_frontend::plan {

// Elements from the tensor's address to the sequence, and the sequence's rows.
struct PackedSequence {
    std::int64_t start, rows;
};
using PackedSequences = std::vector<PackedSequence>;

}  // namespace cudnn_frontend::plan
