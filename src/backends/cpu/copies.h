// Tensors of the caller's that operations do not touch themselves, but copies of them in the workspace: ragged ones,
// since primitive operations know dense tensors alone; and results that an operation reads again, which the copy keeps
// unrounded, so that no other result depends on whether the caller asks for this one.
#pragma once

#include "cpu/ragged.h"

namespace cudnn_frontend::cpu {

// Before operations run: those of inputs. Rows past the lengths are zero. The sequences are sequences_of(graph).
void fill_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);
// After them: those of outputs, rounded to the caller's type. Of ragged ones the rows that sequences have.
void store_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);

}  // namespace cudnn_frontend::cpu
