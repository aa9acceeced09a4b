#include "progress.h"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <string_view>

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

// Only what a signal handler may call.
void interrupt(int) {
    clear();
    _exit(kInterrupted);
}

}  // namespace

Progress::Progress() : is_on_terminal_(isatty(STDERR_FILENO) == 1), former_(std::signal(SIGINT, interrupt)) {}

Progress::~Progress() {
    clear();
    std::signal(SIGINT, former_);
}

void Progress::show(std::string const& text) {
    auto const now = Clock::now();
    constexpr std::chrono::milliseconds quiet(1000), pause(100);
    if (!is_on_terminal_ || now - begin_ < quiet || (is_shown != 0 && now - last_ < pause)) return;
    is_shown = 1;
    last_ = now;
    std::string const line = std::string(kClear) + text;
    [[maybe_unused]] auto const written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace sdpa
