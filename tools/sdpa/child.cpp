#include "child.h"

#include "command.h"

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sdpa {
namespace {

[[noreturn]] void become(std::vector<std::string> const& arguments,
                         std::vector<std::pair<std::string, std::string>> const& environment, int output) {
    std::string name = "sdpa";
    std::vector<char*> words = {name.data()};
    for (std::string const& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    for (auto const& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
    dup2(output, STDOUT_FILENO);
    close(output);
    execv("/proc/self/exe", words.data());
    _exit(127);
}

}  // namespace

Child run_child(std::vector<std::string> const& arguments,
                std::vector<std::pair<std::string, std::string>> const& environment) {
    int ends[2];
    if (pipe(ends) != 0) throw Failure(std::string("a child process cannot be started: ") + std::strerror(errno));
    pid_t const id = fork();
    if (id < 0) throw Failure(std::string("a child process cannot be started: ") + std::strerror(errno));
    if (id == 0) {
        close(ends[0]);
        become(arguments, environment, ends[1]);
    }
    close(ends[1]);
    Child child;
    std::array<char, 65536> piece{};
    while (true) {
        ssize_t const count = read(ends[0], piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        child.output.append(piece.data(), static_cast<std::size_t>(count));
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return child;
}

}  // namespace sdpa
