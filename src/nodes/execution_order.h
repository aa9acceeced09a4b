// In which order the nodes of a graph can run.
#pragma once

#include "nodes/graph_spec.h"

#include <cstddef>
#include <vector>

namespace cudnn_frontend::inline v1::nodes {

// A round of a node; the last one finishes it.
struct Step {
    std::size_t node;
    int round;
};

// So that producers come first, without the steps that wait for a cycle.
std::vector<Step> execution_order(GraphSpec const& spec);

// The nodes' indices in the order in which they finish.
std::vector<std::size_t> finished_nodes(std::vector<Step> const& order);

}  // namespace cudnn_frontend::inline v1::nodes
