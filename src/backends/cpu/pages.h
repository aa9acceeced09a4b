// Containers of pages, and the tables that make sequences of them.
#pragma once

#include "cpu/memory.h"
#include "cpu/view.h"

#include "core/result.h"

namespace cudnn_frontend::cpu {

// The container as so many sequences of so many rows; the container itself where there is no table.
View paged_view(View container, View const& table, std::int64_t batches, std::int64_t rows);

// Pages that a table names for keys that are there, and that no container has. Lengths are within their dims, and the
// offsets of packed tables are sound.
error_t check_pages(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
