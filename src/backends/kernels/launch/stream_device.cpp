#include "kernels/launch/stream_device.h"

#include "cuda/driver.h"
#include "cuda/driver_table.h"
#include "cuda/replay.h"

#include <map>
#include <mutex>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

class StreamStopwatch final : public plan::Stopwatch {
   public:
    explicit StreamStopwatch(std::shared_ptr<cuda::StreamClock> clock) : clock_(std::move(clock)) {}

    error_t start() override { return clock_->start(); }
    Result<double> stop() override { return clock_->stop(); }

   private:
    std::shared_ptr<cuda::StreamClock> clock_;
};

class StreamReplays final : public plan::Replays {
   public:
    explicit StreamReplays(std::function<Result<plan::Stream>(plan::Queue)> stream_of)
        : stream_of_(std::move(stream_of)) {}

    bool launch(plan::Launch const& launch, Record const& record) override {
        auto const stream = stream_of_(launch.queue);
        if (stream.is_bad()) return false;
        auto const record_at = [&](cuda::LaunchMemory const& memory, CUgraph graph) {
            return record({launch.queue, memory.pointers, memory.workspace}, graph);
        };
        return kept_.launch({launch.pointers, launch.workspace}, static_cast<CUstream>(stream.value()), record_at);
    }

   private:
    std::function<Result<plan::Stream>(plan::Queue)> stream_of_;
    cuda::KeptReplay kept_;
};

// The driver's facts about a GPU.
struct KnownGpu {
    cuda::DeviceFacts facts;
    std::string name;
};

Result<KnownGpu> known_gpu(int ordinal) {
    static std::mutex asking;
    static auto& known = *new std::map<int, KnownGpu>();  // never destroyed: programs may still plan
    std::lock_guard const lock(asking);
    if (auto const at = known.find(ordinal); at != known.end()) return at->second;
    KnownGpu gpu;
    SDPA_GRAPH_TRY(cuda::device_facts(ordinal).move_to(gpu.facts));
    auto names = cuda::names_of(ordinal);
    if (names.is_bad()) return names.error();
    gpu.name = std::move(names).value().gpu;
    gpu.facts.rates = cuda::rates_of_model(cuda::model_of(gpu.name));
    return known.emplace(ordinal, std::move(gpu)).first->second;
}

// The default stream belongs to the thread's device, which is the first one unless the program chose another.
Result<int> ordinal_of(CUstream stream) {
    SDPA_GRAPH_TRY(cuda::check_driver());
    if (stream == nullptr) SDPA_GRAPH_TRY(cuda::use_device(0));
    return cuda::device_of(stream);
}

}  // namespace

Result<QueueDevice> stream_device(Target const& target, plan::Settings const&) {
    int ordinal = 0;
    SDPA_GRAPH_TRY(ordinal_of(target.stream().get()).move_to(ordinal));
    auto const gpu = known_gpu(ordinal);
    if (gpu.is_bad()) return gpu.error();
    auto const stream_of = [ordinal](plan::Queue queue) -> Result<plan::Stream> {
        SDPA_GRAPH_TRY(cuda::use_device(ordinal));
        return queue;
    };
    return QueueDevice{gpu.value().facts, [](plan::Queue) { return error_t(); }, stream_of,
                       [](plan::Queue queue) { return stopwatch_on(static_cast<CUstream>(queue)); }, gpu.value().name};
}

Result<std::string> identity_of_stream(Target const& target, plan::Settings const&) {
    auto const ordinal = ordinal_of(target.stream().get());
    if (ordinal.is_bad()) return ordinal.error();
    return "GPU " + std::to_string(ordinal.value());
}

Result<std::unique_ptr<plan::Stopwatch>> stopwatch_on(CUstream stream) {
    auto clock = cuda::StreamClock::make(stream);
    if (clock.is_bad()) return clock.error();
    return std::unique_ptr<plan::Stopwatch>(std::make_unique<StreamStopwatch>(std::move(clock).value()));
}

std::unique_ptr<plan::Replays> replays_on(std::function<Result<plan::Stream>(plan::Queue)> stream_of) {
    return std::make_unique<StreamReplays>(std::move(stream_of));
}

}  // namespace cudnn_frontend::kernels
