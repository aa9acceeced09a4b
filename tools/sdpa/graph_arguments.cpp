#include "graph_arguments.h"

namespace sdpa {

static std::string help_of(std::string const& graphs, std::string const& others) {
    return graphs + (others.empty() ? "" : ", " + others) + ", or - for standard input";
}

void add_graph(CLI::App& command, std::string& path, std::string const& others) {
    command.add_option("file", path, help_of("A graph as JSON", others))->type_name(kTypeOfGraphs)->required();
}

CLI::Option* add_graphs(CLI::App& command, std::vector<std::string>& paths, std::string const& others) {
    return command.add_option("files", paths, help_of("Graphs as JSON", others))->type_name(kTypeOfGraphs);
}

}  // namespace sdpa
