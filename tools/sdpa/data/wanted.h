// The graphs for which plans are wanted: those of files, or these with other sizes.
#pragma once

#include "input.h"

#include <string>
#include <vector>

namespace sdpa {

// The plans that sdpa plan compiles, and that sdpa store missing looks for.
struct Wanted_options {
    std::vector<std::string> paths, devices;
    std::string library;                         // empty for the one that is found
    std::string batches, queries, keys, tokens;  // parse_sizes()
};

// Adds the files and the options that choose GPUs, sizes and the library.
void add_wanted(CLI::App& command, Wanted_options& options);

struct Wanted {
    std::string path, name;  // the name also has the sizes
    Json document;
    bool is_of_class = false;  // a program wanted the plan of its class of shapes
};

// Throws Failure for files that are no graphs, and for sizes that a graph cannot have.
std::vector<Wanted> wanted_graphs(Wanted_options const& options);

}  // namespace sdpa
