// What must hold of every graph, whatever it is.
#pragma once

#include <cudnn_frontend/graph.h>

#include <string>

namespace fuzz {

using cudnn_frontend::error_t;
using cudnn_frontend::graph::Graph;

// Empty where there is no error, or one that says something.
std::string wording_fault(error_t const& error);
// Of a graph that was read: it is written as the same document again.
std::string rewriting_fault(Graph const& graph);
// Whether check() and validate() say the same, in words.
std::string validation_fault(Graph& graph);

}  // namespace fuzz
