// The whole command as one call, for the program sdpa and for the Python package.
#pragma once

namespace sdpa {

// The arguments are those of main(); returns the exit code.
int run_command_line(int argc, char const* const* argv);

}  // namespace sdpa
