#include "timing/timing.h"

#include "data/data.h"
#include "data/gpu_memory.h"
#include "timing/gpu_timer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sdpa {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLeastRuns = 3;
constexpr std::int64_t kGpuWarmUps = 20;                       // a plan becomes a CUDA graph after 16 launches
constexpr std::size_t kFlushedBytes = std::size_t{512} << 20;  // more than the L2 cache of any GPU

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Times measure(std::function<double()> const& run, Timing_options const& options,
              std::function<void(std::int64_t)> const& progress) {
    Times times;
    auto const begin = Clock::now();
    for (std::int64_t i = 0; i < options.runs; ++i) {
        if (i >= kLeastRuns && seconds_since(begin) > options.most_seconds) break;
        progress(i + 1);
        times.milliseconds.push_back(run());
    }
    std::sort(times.milliseconds.begin(), times.milliseconds.end());
    return times;
}

}  // namespace

double Times::at(double share) const {
    double const place = share * static_cast<double>(milliseconds.size() - 1);
    auto const below = static_cast<std::size_t>(std::floor(place)), above = static_cast<std::size_t>(std::ceil(place));
    return milliseconds[below] + (milliseconds[above] - milliseconds[below]) * (place - std::floor(place));
}

Times time_runs(fe::Target const& target, fe::graph::Graph const& graph, Memories& memories,
                Timing_options const& options, std::function<void(std::int64_t)> const& progress) {
    std::int64_t const workspace_bytes = graph.get_workspace_size();
    progress(0);
    if (target.kind() == fe::Target::Kind::CUDA) {
        Gpu_copies const copies(memories, workspace_bytes);
        Gpu_timer timer(options.has_cold_cache ? kFlushedBytes : 0);
        auto const call = [&] { require(graph.execute(target.handle(), copies.pack(), copies.workspace())); };
        for (std::int64_t i = 0; i < kGpuWarmUps; ++i) call();
        Gpu_copies::wait();
        return measure([&] { return timer.measure(call); }, options, progress);
    }
    auto workspace = make_workspace(workspace_bytes);
    auto const pack = host_pack(memories);
    auto const run = [&] {
        auto const begin = Clock::now();
        require(graph.execute(pack, workspace.data()));
        return 1e3 * seconds_since(begin);
    };
    run();
    return measure(run, options, progress);
}

}  // namespace sdpa
