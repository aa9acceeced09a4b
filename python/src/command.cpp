// The command sdpa, as the console script and python -m sdpa_graph run it.
#include "bindings.h"

#ifdef SDPA_GRAPH_HAS_COMMAND
#include <command_line.h>
#endif

namespace binding {
namespace {

// The exit code; nothing where this build has no command.
std::optional<int> run_command([[maybe_unused]] std::vector<std::string> const& arguments,
                               [[maybe_unused]] std::vector<std::string> const& starting_words) {
#ifdef SDPA_GRAPH_HAS_COMMAND
    std::vector<char const*> words;
    for (std::string const& argument : arguments) words.push_back(argument.c_str());
    words.push_back(nullptr);
    py::gil_scoped_release const release;
    return sdpa::run_command_line(static_cast<int>(arguments.size()), words.data(), starting_words);
#else
    return std::nullopt;
#endif
}

}  // namespace

void bind_command(py::module_& module) {
    module.def("_run_command", &run_command, py::arg("arguments"), py::arg("starting_words"),
               "Runs the command sdpa on these words, the first of which is its name; the others start it anew.");
}

}  // namespace binding
