// Attention's options by their names in Python: one row for each, which says what sets it. The type that a row takes is
// the one that its setter takes.
#pragma once

#include "graph.h"

#include <string>
#include <vector>

namespace binding {

// The call that options are read for.
struct Option_call {
    char const* function;
    py::object const& self;  // what a score modifier gets as its graph
    Graph& graph;
};

// RuntimeError for a value of the wrong kind, as the existing package has it; TypeError for a name that is none. None
// stands for an option that is not given.
template <class Attributes>
Attributes read_options(Option_call const& call, py::dict const& values);

template <class Attributes>
std::vector<std::string> option_names();

}  // namespace binding
