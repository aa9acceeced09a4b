// A hash of a graph's computation.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>

namespace cudnn_frontend::graph {

// Equal for graphs that differ in names alone. Reads every other field through the schema tables.
std::size_t canonical_key(nodes::GraphSpec const& spec);

}  // namespace cudnn_frontend::graph
