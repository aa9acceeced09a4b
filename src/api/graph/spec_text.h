// A graph as a hash and as text, through the schema tables.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <string>

namespace cudnn_frontend::graph {

// Equal for graphs that differ in names alone.
std::size_t canonical_key(nodes::GraphSpec const& spec);

// Text for people, a line for each tensor and node with the values that are set.
std::string to_text(nodes::GraphSpec spec);

}  // namespace cudnn_frontend::graph
