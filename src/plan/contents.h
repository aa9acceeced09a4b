// Checks of the contents of a pack's memory, for backends whose memory the host cannot read.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"

#include <cstddef>
#include <functional>
#include <span>

namespace cudnn_frontend::plan {

// Copies bytes to the host from a pointer of the pack.
using Fetch = std::function<error_t(std::span<std::byte> to, void const* from)>;

// Checks lengths, ragged offsets and page tables. The pointers are in the order of the op graph's bindings.
using CheckIndices = error_t (*)(ir::OpGraph const& graph, std::span<void* const> pointers, Fetch const& fetch);

}  // namespace cudnn_frontend::plan
