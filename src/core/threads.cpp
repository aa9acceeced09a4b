#include "core/threads.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace cudnn_frontend::core {
namespace {

// The threads join on destruction, also if starting the next one fails.
std::vector<std::jthread> start_helpers(std::int64_t count, auto const& work) {
    std::vector<std::jthread> helpers;
    try {
        helpers.reserve(static_cast<std::size_t>(count));
        for (int worker = 1; worker <= count; ++worker) helpers.emplace_back(work, worker);
    } catch (std::exception const&) {
        // The workers that did start do all the tasks.
    }
    return helpers;
}

}  // namespace

void run_tasks(int threads, std::int64_t count, void (*task)(void* context, int worker, std::int64_t index),
               void* context) {
    std::atomic<std::int64_t> next{0};
    auto const work = [&](int worker) {
        for (std::int64_t index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
            task(context, worker, index);
        }
    };
    std::int64_t const workers = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(count, 1));
    auto const helpers = start_helpers(workers - 1, work);
    work(0);
}

}  // namespace cudnn_frontend::core
