// The arguments that name graphs, for all subcommands that read some.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sdpa {

// The type of these arguments in help, by which a message knows them.
constexpr char const* kTypeOfGraphs = "GRAPH";
// Where graphs come from, for the messages of commands that were given none.
constexpr char const* kSourcesOfGraphs =
    "sdpa new > graph.json, which makes a graph, or one of graphs/ in the sources, docs/json.md";

// A graph, or several. `others` says what else the command reads in their place.
void add_graph(CLI::App& command, std::string& path, std::string const& others = {});
CLI::Option* add_graphs(CLI::App& command, std::vector<std::string>& paths, std::string const& others);

}  // namespace sdpa
