#include "lowering/quirks/child_process.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace sdpa_test {
namespace {

[[noreturn]] void fail(char const* what) {
    std::perror(what);
    std::exit(2);
}

[[noreturn]] void run_child(int pipe, unsigned seconds, std::function<void(AnswerPipe& answers)> const& ask) {
    rlimit const no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    AnswerPipe answers(pipe, seconds);
    ask(answers);
    ::_exit(0);
}

std::string read_all(int from) {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(from, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(count));
    }
    return text;
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}  // namespace

// The signal of the alarm ends the process.
AnswerPipe::AnswerPipe(int pipe, unsigned seconds) : pipe_(pipe), seconds_(seconds) { ::alarm(seconds_); }

void AnswerPipe::write(std::string const& line) {
    std::string const text = line + "\n";
    if (::write(pipe_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail("write");
    ::alarm(seconds_);
}

ChildAnswers ask_in_child(unsigned seconds, std::function<void(AnswerPipe& answers)> const& ask) {
    int ends[2];
    if (::pipe(ends) != 0) fail("pipe");
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        ::close(ends[0]);
        run_child(ends[1], seconds, ask);
    }
    ::close(ends[1]);
    ChildAnswers answers{.lines = lines_of(read_all(ends[0]))};
    ::close(ends[0]);
    int status = 0;
    if (::waitpid(child, &status, 0) != child) fail("waitpid");
    answers.has_ended_early = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return answers;
}

}  // namespace sdpa_test
