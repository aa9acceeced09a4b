// Lengths, ragged offsets and page tables: the caller's integers that say which memory attention accesses.
#pragma once

#include "cpu/memory.h"
#include "plan/contents.h"

namespace cudnn_frontend::cpu {

// Checks them before anything is written.
error_t check_indices(ir::OpGraph const& graph, Memory const& memory);

// The same for a pack with pointers to memory that the host cannot read: the integers that are needed are copied to the
// host.
error_t check_indices_elsewhere(ir::OpGraph const& graph, std::span<void* const> pointers, plan::Fetch const& fetch);

}  // namespace cudnn_frontend::cpu
