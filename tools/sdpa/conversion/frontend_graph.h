// Graphs as cudnn-frontend prints them, and the same graphs as documents of docs/json.md.
#pragma once

#include "command.h"

#include <string>
#include <vector>

namespace sdpa {

// The graphs of a log, or of a text with one graph, in the order in which they were printed.
std::vector<Json> frontend_graphs_of(std::string const& text);

struct Converted_graph {
    Json document;
    std::vector<std::string> remarks;  // on what the other format does not say
};

// Throws Failure for what is not known of the other format, so that nothing is left out of a graph silently.
Converted_graph convert_frontend_graph(Json const& graph);

}  // namespace sdpa
