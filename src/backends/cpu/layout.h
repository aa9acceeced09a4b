// Where each value of an op graph is stored: the layout of the workspace.
#pragma once

#include "cpu/memory.h"

#include "core/result.h"

#include <string>
#include <vector>

namespace cudnn_frontend::cpu {

// Offsets in the workspace are multiples of this many bytes.
inline constexpr std::int64_t kWorkspaceAlignment = 64;
// More than any host can address; sizes up to here can be added without overflow.
inline constexpr std::int64_t kMaxWorkspace = std::int64_t{1} << 47;

struct Layout {
    std::vector<Slot> slots;  // of each value; those of views are not used
    std::int64_t bytes = 0;   // of workspace for the virtual values
};

// Virtual values share memory where one is last read before the other is written.
Result<Layout> lay_out(ir::OpGraph const& graph);

std::int64_t align_up(std::int64_t bytes);

}  // namespace cudnn_frontend::cpu
