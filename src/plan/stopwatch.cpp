#include "plan/stopwatch.h"

#include <chrono>

namespace cudnn_frontend::plan {
namespace {

class HostStopwatch final : public Stopwatch {
   public:
    error_t start() override {
        begin_ = Clock::now();
        return {};
    }
    Result<double> stop() override { return std::chrono::duration<double, std::micro>(Clock::now() - begin_).count(); }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_;
};

}  // namespace

std::unique_ptr<Stopwatch> host_stopwatch() { return std::make_unique<HostStopwatch>(); }

}  // namespace cudnn_frontend::plan
