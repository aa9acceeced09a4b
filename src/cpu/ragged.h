// Ragged tensors of the caller's: checked, and copied for primitive operations, which know dense tensors alone.
#pragma once

#include "cpu/memory.h"

#include "core/result.h"

#include <vector>

namespace cudnn_frontend::cpu {

// Offsets that are negative or decrease, or that leave no room for a sequence. Lengths are within their dims.
error_t check_offsets(ir::OpGraph const& graph, Memory const& memory);

// A sequence of a ragged tensor: elements from the tensor's address to it, and its rows.
struct PackedSequence {
    std::int64_t start, rows;
};
using PackedSequences = std::vector<PackedSequence>;

// Of each binding, in their order; none of tensors that are not ragged. Lengths and offsets are sound.
std::vector<PackedSequences> sequences_of(ir::OpGraph const& graph, Memory const& memory);

// Fills the dense copies of inputs; rows past the lengths are zero.
void unpack_ragged(ir::OpGraph const& graph, std::span<Slot const> slots, Memory const& memory);
// Writes the rows that sequences have from the dense copies of outputs.
void pack_ragged(ir::OpGraph const& graph, std::span<Slot const> slots, Memory const& memory);

}  // namespace cudnn_frontend::cpu
