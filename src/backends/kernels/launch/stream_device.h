// Streams as queues, and the work on them that executables of all backends share.
#pragma once

#include "cuda/cuda_graph.h"
#include "kernels/launch/queue_device.h"

#include <functional>
#include <memory>

namespace cudnn_frontend::kernels {

// The device of a target's stream. Asked of the driver once for each GPU.
Result<QueueDevice> stream_device(Target const& target, plan::Settings const& settings);
Result<std::string> identity_of_stream(Target const& target, plan::Settings const& settings);

// Measures by events on the stream.
Result<std::unique_ptr<plan::Stopwatch>> stopwatch_on(CUstream stream);
// Launches on the queue's stream.
std::unique_ptr<plan::Replays> replays_on(std::function<Result<plan::Stream>(plan::Queue)> stream_of);

}  // namespace cudnn_frontend::kernels
