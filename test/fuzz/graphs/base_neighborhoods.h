// Graphs of neighborhood attention, of which cases are made too.
#pragma once

#include <cudnn_frontend/graph.h>

namespace fuzz {

// One of its functions over tokens of a random case, with few of them.
cudnn_frontend::graph::Graph neighborhood_graph(std::uint64_t index);

}  // namespace fuzz
