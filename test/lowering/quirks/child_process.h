// Questions in a process of their own, which they may end or never come back from.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sdpa_test {

// The place where a child process puts its answers, one by one, so that they are not lost where it ends.
class AnswerPipe {
   public:
    AnswerPipe(int pipe, unsigned seconds);

    void write(std::string const& line);  // the time limit starts anew

   private:
    int pipe_;
    unsigned seconds_;
};

struct ChildAnswers {
    std::vector<std::string> lines;
    bool has_ended_early = false;  // crashed, or had no next line in time
};

// Asks in a fork of this process, which has to have one thread; so many seconds for each line.
ChildAnswers ask_in_child(unsigned seconds, std::function<void(AnswerPipe& answers)> const& ask);

}  // namespace sdpa_test
