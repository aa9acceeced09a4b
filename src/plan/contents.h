// Checks of what a pack's memory holds, for backends whose memory the host cannot read.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"

#include <cstddef>
#include <functional>
#include <span>

namespace cudnn_frontend::plan {

// Reads bytes from where a pointer of the pack leads.
using Fetch = std::function<error_t(std::span<std::byte> to, void const* from)>;

// Lengths, ragged offsets and page tables of a pack whose pointers stand in the order of the op graph's bindings.
using CheckIndices = error_t (*)(ir::OpGraph const& graph, std::span<void* const> pointers, Fetch const& fetch);

}  // namespace cudnn_frontend::plan
