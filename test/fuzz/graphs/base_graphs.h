// The graphs from which cases are made: those of the random sweeps of attention and of neighborhood attention, forward
// and backward, with few rows and columns.
#pragma once

#include "fuzz/graphs/graph_document.h"

namespace fuzz {

constexpr std::size_t kBaseGraphs = 2000;

// Every tensor has a uid; the integers are lengths, offsets and tables that fit the graph.
GraphDocument const& base_graph(std::size_t index);

}  // namespace fuzz
