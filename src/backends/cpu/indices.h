// Lengths, ragged offsets and page tables: the integers of the caller's that say which memory attention touches.
#pragma once

#include "cpu/memory.h"
#include "plan/contents.h"

namespace cudnn_frontend::cpu {

// What is wrong with them, before anything is written.
error_t check_indices(ir::OpGraph const& graph, Memory const& memory);

// The same, of a pack whose pointers lead to memory that the host cannot read: what is needed of it is fetched.
error_t check_indices_elsewhere(ir::OpGraph const& graph, std::span<void* const> pointers, plan::Fetch const& fetch);

}  // namespace cudnn_frontend::cpu
