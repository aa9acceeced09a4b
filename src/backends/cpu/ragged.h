// Ragged tensors of the caller's: their offsets checked, and where their sequences lie.
#pragma once

#include "cpu/memory.h"

#include "core/result.h"
#include "plan/sequences.h"

#include <vector>

namespace cudnn_frontend::cpu {

// Offsets that are negative or decrease, or that leave no room for a sequence. Lengths are within their dims.
error_t check_offsets(ir::OpGraph const& graph, Memory const& memory);

using plan::PackedSequence;
using plan::PackedSequences;

// Of each binding, in their order; none of tensors that are not ragged. Lengths and offsets are sound.
std::vector<PackedSequences> sequences_of(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
