// The nearest graphs that work: edits of a graph that were really planned.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "plan/seam/settings.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/target.h>

#include <chrono>
#include <string>
#include <vector>

namespace cudnn_frontend::api {

struct Search {
    nodes::GraphSpec const& graph;
    plan::Settings const& settings;
    Target const& target;
    std::string target_name;
};

// A few of them, the cheapest first: the graph after one edit or several, then as it is on other GPUs and on the CPU.
// None for graphs of more than 64 nodes. The limit is the time of the whole search.
std::vector<Nearest_graph> nearest_graphs(Search const& search, std::chrono::milliseconds limit);

// The changes of the cheapest graph whose rules and limits all hold, as one line; empty where none is found soon. No
// engine is asked for. The search ends after a number of graphs, so that every run finds the same on a busy machine,
// too.
std::string cheapest_fix(Search const& search);

}  // namespace cudnn_frontend::api
