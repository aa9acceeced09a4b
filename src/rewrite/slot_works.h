// The joints of slots as work on rows, bound to the addresses of their operands.
#pragma once

#include "rewrite/program.h"
#include "rows/padding.h"
#include "rows/tables.h"

#include <span>

namespace cudnn_frontend::rewrite {

// A pointer for each of places_of(), in order.
rows::Tables work_of(SlotTables const& tables, std::span<void* const> pointers);
rows::Padding work_of(ClearPadding const& padding, std::span<void* const> pointers);

}  // namespace cudnn_frontend::rewrite
