#include "cudnn/planning/planning_device.h"

#include "cuda/driver.h"
#include "cudnn/library/api.h"
#include "kernels/launch/stream_device.h"

namespace cudnn_frontend::cudnn {

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
    return kernels::replays_on([device](plan::Queue queue) { return stream_of(device, queue); });
}

Result<std::unique_ptr<plan::Stopwatch>> stopwatch_of(PlanningDevice const& device, plan::Queue queue) {
    auto const stream = stream_of(device, queue);
    if (stream.is_bad()) return stream.error();
    return kernels::stopwatch_on(static_cast<CUstream>(stream.value()));
}

}  // namespace cudnn_frontend::cudnn
