// The command's subcommands and options as data, read from the parser: for shell completion and the man page.
#pragma once

#include "command.h"

#include <string>
#include <vector>

namespace sdpa {

struct Option_syntax {
    std::vector<std::string> names;  // such as --target, --for; of a positional argument its name alone
    std::string description, value, fallback;
    std::vector<std::string> choices;  // values to offer: all that are accepted, or the names of targets
    bool takes_value = false, is_positional = false, is_list = false;
};

struct Syntax {
    std::string name, description, footer;
    std::vector<Option_syntax> options;
    std::vector<Syntax> subcommands;
};

Syntax syntax_of(CLI::App const& app);

// The text with `by` in place of each `what`.
std::string replaced(std::string text, std::string const& what, std::string const& by);
std::string joined(std::vector<std::string> const& words, std::string const& separator);

}  // namespace sdpa
