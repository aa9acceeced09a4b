// Checks that must hold for every graph.
#pragma once

#include <cudnn_frontend/graph.h>

#include <string>

namespace fuzz {

using cudnn_frontend::error_t;
using cudnn_frontend::graph::Graph;

// Empty if there is no error, or an error with a text.
std::string wording_fault(error_t const& error);
// A graph that was read is written as the same document again.
std::string rewriting_fault(Graph const& graph);
// check() and validate() give the same result and texts.
std::string validation_fault(Graph& graph);

}  // namespace fuzz
