// Attention's options by their names in Python: one row for each, which names its setter. The type of a row is that of
// its setter's argument.
#pragma once

#include "graph.h"

#include <string>
#include <vector>

namespace binding {

// The call that options are read for.
struct Option_call {
    char const* function;
    py::object const& self;  // a score modifier gets it as its graph
    Graph& graph;
};

// Raises RuntimeError for a value of the wrong kind, as the existing package does, and TypeError for an unknown name.
// None means that an option is not given.
template <class Attributes>
Attributes read_options(Option_call const& call, py::dict const& values);

template <class Attributes>
std::vector<std::string> option_names();

}  // namespace binding
