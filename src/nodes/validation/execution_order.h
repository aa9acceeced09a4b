// The order in which the nodes of a graph can run.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <vector>

namespace cudnn_frontend::nodes {

// A round of a node; the last round finishes the node.
struct NodeRound {
    std::size_t node;
    int round;
};

// Producers first; without the steps that wait for a cycle.
std::vector<NodeRound> execution_order(GraphSpec const& spec);

// The nodes of one cycle of the graph, each followed by one that it waits for, back to the first; empty if there is
// none.
std::vector<std::size_t> find_cycle(GraphSpec const& spec);

// The nodes' indices in the order in which they finish.
std::vector<std::size_t> finished_nodes(std::vector<NodeRound> const& order);

}  // namespace cudnn_frontend::nodes
