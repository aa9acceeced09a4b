// The nearest graphs that work: edits of a graph that were really planned.
#pragma once

#include "input.h"

#include <chrono>
#include <string>
#include <vector>

namespace sdpa {

struct Neighbor {
    std::vector<std::string> changes;  // in this order
    std::string target, plan;
    Json document;
};

struct Search {
    Json const& document;
    std::string target_name;
    fe::Target const& target;
    std::chrono::milliseconds limit;  // of the whole search
};

// A few of them, cheapest first. Faults of the graph are fixed one after the other; then each further edit is tried
// alone, then pairs, then other GPUs and the CPU. None for graphs of more than 64 nodes.
std::vector<Neighbor> nearest_graphs(Search const& search);

}  // namespace sdpa
