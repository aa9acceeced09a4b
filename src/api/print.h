// A graph as text for people.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <string>

namespace cudnn_frontend::graph {

// A line for each tensor and node: the values that are set, through the schema tables.
std::string to_text(nodes::GraphSpec const& spec);

}  // namespace cudnn_frontend::graph
