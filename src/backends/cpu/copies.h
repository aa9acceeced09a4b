// Copies, in the workspace, of the caller's tensors that operations do not access directly: of ragged ones, since
// primitive operations take dense tensors only; and of outputs that another operation reads, which the copy keeps
// unrounded, so that no other result depends on whether this one is an output.
#pragma once

#include "cpu/ragged.h"

namespace cudnn_frontend::cpu {

// Fills the copies of inputs before operations run. Rows past the lengths are zero. Sequences: sequences_of(graph).
void fill_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);
// Stores the copies of outputs after them, rounded to the caller's type; of ragged ones only the sequences' rows.
void store_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);

}  // namespace cudnn_frontend::cpu
