// A line on a terminal while work lasts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace sdpa {

// Shows the current step and the seconds since the first one, kept up to date by a thread of its own. Shows nothing in
// the first second, nor where standard error is no terminal. Ctrl-C removes the line and ends the command with exit
// code 130 while an object exists.
class Progress {
   public:
    explicit Progress(std::string step = {});
    Progress(Progress const&) = delete;
    Progress& operator=(Progress const&) = delete;
    ~Progress();

    void show(std::string step);

   private:
    using Clock = std::chrono::steady_clock;

    void paint();

    Clock::time_point begin_ = Clock::now();
    void (*former_)(int);
    std::mutex mutex_;
    std::condition_variable ends_;
    std::string step_;
    bool is_over_ = false;
    std::thread painter_;
};

}  // namespace sdpa
