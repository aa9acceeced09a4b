// Ragged tensors of the caller's: checks of their offsets, and where their sequences are.
#pragma once

#include "cpu/memory.h"

#include "core/result.h"
#include "plan/sequences.h"

#include <vector>

namespace cudnn_frontend::cpu {

// Offsets that are negative, decrease or leave no room for a sequence are errors. Lengths are within their dims.
error_t check_offsets(ir::OpGraph const& graph, Memory const& memory);

using plan::PackedSequence;
using plan::PackedSequences;

// For each binding, in order; none for tensors that are not ragged. Lengths and offsets are valid.
std::vector<PackedSequences> sequences_of(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
