// In which order the nodes of a graph can run.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <vector>

namespace cudnn_frontend::nodes {

// A round of a node; the last one finishes it.
struct Step {
    std::size_t node;
    int round;
};

// So that producers come first, without the steps that wait for a cycle.
std::vector<Step> execution_order(GraphSpec const& spec);

// The nodes of one of the graph's cycles, each followed by one that it waits for, back to the first; empty where there
// is none.
std::vector<std::size_t> find_cycle(GraphSpec const& spec);

// The nodes' indices in the order in which they finish.
std::vector<std::size_t> finished_nodes(std::vector<Step> const& order);

}  // namespace cudnn_frontend::nodes
