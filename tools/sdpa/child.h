// This command as a child process, for work that needs a process of its own: a process opens one cuDNN library.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sdpa {

struct Child {
    int status = 0;  // the exit code; 128 and the signal's number where a signal ended it
    std::string output;
};

// The words that start this command, a program first: those before the arguments.
void set_starting_words(std::vector<std::string> words);

// Its standard error is this process' own. Throws Failure where no process can be started.
Child run_child(std::vector<std::string> const& arguments,
                std::vector<std::pair<std::string, std::string>> const& environment);

}  // namespace sdpa
