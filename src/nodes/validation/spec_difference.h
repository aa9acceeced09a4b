// The differences between two descriptions of graphs.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <string>

namespace cudnn_frontend::nodes {

// How many tensors and nodes differ, one for the rest of the graph included.
std::size_t differing_parts(GraphSpec const& a, GraphSpec const& b);

// The first few fields in which the graph differs from another one, with both values.
std::string difference_text(GraphSpec const& graph, GraphSpec const& other);

}  // namespace cudnn_frontend::nodes
