#include "cudnn/planning/planning_device.h"

#include "cuda/driver.h"
#include "cuda/replay.h"
#include "cudnn/library/api.h"

namespace cudnn_frontend::cudnn {
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
    explicit StreamReplays(PlanningDevice device) : device_(std::move(device)) {}

    bool launch(plan::Launch const& launch, Record const& record) override {
        auto const stream = stream_of(device_, launch.queue);
        if (stream.is_bad()) return false;
        auto const record_at = [&](cuda::LaunchMemory const& memory, CUgraph graph) {
            return record({launch.queue, memory.pointers, memory.workspace}, graph);
        };
        return kept_.launch({launch.pointers, launch.workspace}, static_cast<CUstream>(stream.value()), record_at);
    }

   private:
    PlanningDevice device_;
    cuda::KeptReplay kept_;
};

}  // namespace

error_t check_queue(PlanningDevice const& device, plan::Queue queue) {
    if (!device.is_live) {
        return {error_code_t::GRAPH_EXECUTION_FAILED,
                "the plan was made offline for " + device.device->name() +
                    ", which is not here; serialize() it and deserialize() it on a machine with that GPU"};
    }
    if (queue != nullptr) return {};
    return {error_code_t::HANDLE_ERROR, "the cuDNN handle is null; pass one that cudnnCreate() made"};
}

Result<plan::Stream> stream_of(PlanningDevice const& device, plan::Queue queue) {
    SDPA_GRAPH_TRY(cuda::use_device(device.device->ordinal()));
    cudaStream_t stream = nullptr;
    cudnnStatus_t const status = device.api->get_stream(static_cast<cudnnHandle_t>(queue), &stream);
    if (status == CUDNN_STATUS_SUCCESS) return plan::Stream(stream);
    return backend_error(*device.api, status, "querying the handle's stream", error_code_t::HANDLE_ERROR);
}

std::unique_ptr<plan::Replays> replays_on(PlanningDevice const& device) {
    return std::make_unique<StreamReplays>(device);
}

Result<std::unique_ptr<plan::Stopwatch>> stopwatch_of(PlanningDevice const& device, plan::Queue queue) {
    auto const stream = stream_of(device, queue);
    if (stream.is_bad()) return stream.error();
    auto clock = cuda::StreamClock::make(static_cast<CUstream>(stream.value()));
    if (clock.is_bad()) return clock.error();
    return std::unique_ptr<plan::Stopwatch>(std::make_unique<StreamStopwatch>(std::move(clock).value()));
}

}  // namespace cudnn_frontend::cudnn
