// Lengths, ragged offsets and page tables: the integers of the caller's that say which memory attention touches.
#pragma once

#include "cpu/memory.h"

#include <functional>

namespace cudnn_frontend::cpu {

// What is wrong with them, before anything is written.
error_t check_indices(ir::OpGraph const& graph, Memory const& memory);

// Reads bytes from where a pointer of the pack leads.
using Fetch = std::function<error_t(std::span<std::byte> to, void const* from)>;

// The same, of a pack whose pointers lead to memory that the host cannot read: what is needed of it is fetched.
error_t check_indices_elsewhere(ir::OpGraph const& graph, std::span<void* const> pointers, Fetch const& fetch);

}  // namespace cudnn_frontend::cpu
