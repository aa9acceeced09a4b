// A line on a terminal while work lasts.
#pragma once

#include <chrono>
#include <string>

namespace sdpa {

// Shows nothing in the first second, nor where standard error is no terminal. Ctrl-C removes the line and ends the
// command with exit code 130 while an object exists.
class Progress {
   public:
    Progress();
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;
    ~Progress();

    void show(std::string const& text);

   private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point begin_ = Clock::now(), last_ = begin_;
    bool is_on_terminal_;
    void (*former_)(int);
};

}  // namespace sdpa
