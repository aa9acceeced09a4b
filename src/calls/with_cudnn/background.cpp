#include "calls/background.h"

#include "core/guard.h"
#include "cuda/driver.h"

#include <cudnn_frontend/runtime.h>

#include <unistd.h>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

namespace {

class BackgroundWorker {
   public:
    explicit BackgroundWorker(std::int32_t device) : device_(device), thread_([this] { run(); }) {}

    bool add(BackgroundWork work) {
        constexpr std::size_t kMostWaiting = 64;
        if (getpid() != owner_) return false;
        std::lock_guard const lock(mutex_);
        if (is_stopping_ || waiting_.size() >= kMostWaiting) return false;
        waiting_.push_back(std::move(work));
        has_work_.notify_one();
        return true;
    }

    // Waits for the work that is being done. In a process that was forked the thread does not exist.
    void stop() {
        if (getpid() != owner_) return;
        {
            std::lock_guard const lock(mutex_);
            is_stopping_ = true;
            has_work_.notify_one();
        }
        thread_.join();
    }

   private:
    std::optional<BackgroundWork> next() {
        std::unique_lock lock(mutex_);
        has_work_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
        if (is_stopping_) return std::nullopt;
        BackgroundWork work = std::move(waiting_.front());
        waiting_.pop_front();
        return work;
    }

    // The program may be recording a CUDA graph on another thread: this one's calls are not part of it.
    void run() {
        cudnnHandle_t handle = nullptr;
        bool const is_ready = fe::cuda::use_device(device_).is_good() && fe::cuda::stay_out_of_captures().is_good() &&
                              fe::runtime::create_handle(&handle).is_good();
        if (!is_ready) return refuse();
        while (auto const work = next()) do_now(*work, handle);
    }

    // Plans are then made by the calls that need them.
    void refuse() {
        std::lock_guard const lock(mutex_);
        is_stopping_ = true;
        waiting_.clear();
    }

    // A failure is reported by the call that needs the plan.
    static void do_now(BackgroundWork const& work, cudnnHandle_t handle) noexcept {
        static_cast<void>(fe::core::guarded([&]() -> fe::error_t {
            work(fe::Target::cuda(handle));
            return {};
        }));
    }

    std::int32_t device_;
    pid_t owner_ = getpid();
    std::mutex mutex_;
    std::condition_variable has_work_;
    std::deque<BackgroundWork> waiting_;
    bool is_stopping_ = false;
    std::thread thread_;  // last, since it uses the others
};

using Workers = std::map<std::int32_t, BackgroundWorker>;

// They are never destroyed, since a program's static objects may still call. The threads end before the driver does.
Workers& workers() {
    static auto* const all = new Workers();
    return *all;
}

BackgroundWorker& worker_of(std::int32_t device) {
    static std::mutex changing;
    static bool const stops_at_exit = std::atexit([] {
                                          for (auto& [ordinal, worker] : workers()) worker.stop();
                                      }) == 0;
    static_cast<void>(stops_at_exit);
    std::lock_guard const lock(changing);
    return workers().try_emplace(device, device).first->second;
}

}  // namespace

// Starting a thread may fail.
bool enqueue_background(std::int32_t device, BackgroundWork work) {
    try {
        return worker_of(device).add(std::move(work));
    } catch (...) {
        return false;
    }
}

}  // namespace sdpa_graph::calls
