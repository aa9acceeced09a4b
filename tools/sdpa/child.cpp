#include "child.h"

#include "command.h"

#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace sdpa {
namespace {

std::vector<std::string>& starting_words() {
    static std::vector<std::string> words;
    return words;
}

[[noreturn]] void become(std::vector<std::string> const& arguments,
                         std::vector<std::pair<std::string, std::string>> const& environment, int output) {
    std::vector<char*> words;
    for (auto const* part : {&std::as_const(starting_words()), &arguments}) {
        for (std::string const& word : *part) words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    for (auto const& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
    dup2(output, STDOUT_FILENO);
    close(output);
    execv(words.front(), words.data());
    _exit(127);
}

}  // namespace

void set_starting_words(std::vector<std::string> words) { starting_words() = std::move(words); }

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
