// Containers of pages, and page tables.
#pragma once

#include "cpu/memory.h"
#include "cpu/view.h"

#include "core/result.h"

namespace cudnn_frontend::cpu {

// The container as `batches` sequences of `rows` rows; the container itself if there is no table.
View paged_view(View container, View const& table, std::int64_t batches, std::int64_t rows);

// Checks that a container has all pages that its table names for existing keys. Lengths are within their dims, and the
// offsets of packed tables are valid.
error_t check_pages(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
