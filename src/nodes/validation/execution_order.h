// The order in which nodes run: each after those whose results it reads. Attention runs together with its modifier.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstddef>
#include <vector>

namespace cudnn_frontend::nodes {

// Indices of the graph's nodes, producers first and otherwise in the given order; without the nodes that wait for a
// cycle.
std::vector<std::size_t> execution_order(GraphSpec const& spec);
// The same for a list of nodes, such as those of one modifier.
std::vector<std::size_t> execution_order(GraphSpec const& spec, std::vector<Node> const& nodes);

// The nodes of one cycle of the graph, each followed by one that it waits for, back to the first; empty if there is
// none. Attention stands for itself and its modifier, unless the cycle is within the modifier.
std::vector<Node const*> find_cycle(GraphSpec const& spec);

// Puts the nodes into an order that has all of them.
void reorder(std::vector<Node>& nodes, std::vector<std::size_t> const& order);

}  // namespace cudnn_frontend::nodes
