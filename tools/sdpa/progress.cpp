#include "progress.h"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <string_view>
#include <utility>

namespace sdpa {
namespace {

constexpr int kInterrupted = 130;
constexpr std::string_view kClear = "\r\033[K";

volatile std::sig_atomic_t is_shown = 0;

void clear() {
    if (is_shown == 0) return;
    is_shown = 0;
    [[maybe_unused]] auto const written = write(STDERR_FILENO, kClear.data(), kClear.size());
}

// Does only what a signal handler may do.
void interrupt(int) {
    clear();
    _exit(kInterrupted);
}

}  // namespace

Progress::Progress(std::string step) : former_(std::signal(SIGINT, interrupt)), step_(std::move(step)) {
    if (isatty(STDERR_FILENO) == 1) painter_ = std::thread([this] { paint(); });
}

Progress::~Progress() {
    {
        std::lock_guard const lock(mutex_);
        is_over_ = true;
    }
    ends_.notify_all();
    if (painter_.joinable()) painter_.join();
    clear();
    std::signal(SIGINT, former_);
}

void Progress::show(std::string step) {
    std::lock_guard const lock(mutex_);
    step_ = std::move(step);
}

void Progress::paint() {
    constexpr std::chrono::milliseconds kQuiet(1000), kPause(200);
    std::unique_lock lock(mutex_);
    if (ends_.wait_for(lock, kQuiet, [&] { return is_over_; })) return;
    do {
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
        std::string const line = std::string(kClear) + step_ + ", " + std::to_string(seconds) + " s";
        is_shown = 1;
        [[maybe_unused]] auto const written = write(STDERR_FILENO, line.data(), line.size());
    } while (!ends_.wait_for(lock, kPause, [&] { return is_over_; }));
}

}  // namespace sdpa
