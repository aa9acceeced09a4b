// Copies, in the workspace, of the caller's tensors that operations do not access directly. Ragged tensors have one,
// since primitive operations accept dense tensors only; so do outputs that another operation reads. The copy keeps them
// unrounded, so that no other result depends on whether this one is an output.
#pragma once

#include "cpu/ragged.h"

namespace cudnn_frontend::cpu {

// Fills the copies of inputs before operations run. Rows past the lengths are zero. Sequences: sequences_of(graph).
void fill_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);
// Stores the copies of outputs after them, rounded to the caller's type. For ragged ones only the sequences' rows are
// stored.
void store_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);

}  // namespace cudnn_frontend::cpu
