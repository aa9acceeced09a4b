// The workspace of a program: where each value of an op graph is stored, and copies of the caller's tensors.
#pragma once

#include "core/result.h"
#include "cpu/memory/indices.h"
#include "cpu/memory/memory.h"

#include <string>
#include <vector>

namespace cudnn_frontend::cpu {

// Offsets in the workspace are multiples of this many bytes.
inline constexpr std::int64_t kWorkspaceAlignment = 64;
// More than any host can address; sizes up to here can be added without overflow.
inline constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 47;

struct WorkspaceLayout {
    std::vector<ValueSlot> slots;  // of each value; those of views are not used
    std::int64_t bytes = 0;        // of workspace for the virtual values
};

// Virtual values share memory where one is last read before the other is written.
Result<WorkspaceLayout> lay_out(ir::OpGraph const& graph);

std::int64_t align_up(std::int64_t bytes);

// Copies, in the workspace, of the caller's tensors that operations do not access directly. Ragged tensors have one,
// since primitive operations accept dense tensors only; so do outputs that another operation reads. The copy keeps them
// unrounded, so that no other result depends on whether this one is an output.

// Fills the copies of inputs before operations run. Rows past the lengths are zero. Sequences: sequences_of(graph).
void fill_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);
// Stores the copies of outputs after them, rounded to the caller's type. For ragged ones only the sequences' rows are
// stored.
void store_copies(ir::OpGraph const& graph, Memory const& memory, std::vector<PackedSequences> const& sequences);

}  // namespace cudnn_frontend::cpu
