// The whole command as one call, for the program sdpa and for the Python package.
#pragma once

#include <string>
#include <vector>

namespace sdpa {

// The arguments are those of main(), and the words those that start this command in a process of its own, a program's
// path first; returns the exit code.
int run_command_line(int argc, char const* const* argv, std::vector<std::string> starting_words);

}  // namespace sdpa
