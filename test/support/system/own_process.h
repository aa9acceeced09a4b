// Runs a function in a process of its own: libraries that a process has loaded stay loaded, and would reach the next
// test.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

// The function gives a text. Where it ends its process, the answer says so.
template <class Function>
std::string in_own_process(Function const& function) {
    int ends[2];
    if (pipe(ends) != 0) return "no pipe";
    pid_t const child = fork();
    if (child < 0) return "no process";
    if (child == 0) {
        std::string const text = function();
        bool const is_written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(is_written ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
    return text;
}
