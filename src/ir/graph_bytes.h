// The memory of an op graph, as an estimate.
#pragma once

#include "ir/op_graph.h"

#include <cstddef>

namespace cudnn_frontend::ir {

std::size_t heap_bytes(OpGraph const& graph);

}  // namespace cudnn_frontend::ir
