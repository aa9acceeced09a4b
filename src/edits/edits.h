// Small changes of a graph, each of which might be the one after which it works.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <string>
#include <vector>

namespace cudnn_frontend::edits {

struct Edit {
    int cost;          // of making it in a program, and of what it changes in the results
    std::string kind;  // if one works, others of the kind are not of interest
    std::string text;  // the change, as an instruction
    nodes::GraphSpec graph;
};

// Every edit that changes the graph, the cheapest first.
std::vector<Edit> edits_of(nodes::GraphSpec const& graph);

}  // namespace cudnn_frontend::edits
