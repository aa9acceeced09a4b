// cuDNN handles as queues of work, on which plans of any backend run on a device that cuDNN plans for.
#pragma once

#include "cudnn/planning/planning_device.h"
#include "plan/seam/backend.h"

#include <memory>

namespace cudnn_frontend::cudnn {

// An error if the device is not here, or the handle is null.
error_t check_queue(PlanningDevice const& device, plan::Queue queue);
// The handle's stream. Makes the device's context current if the thread has none.
Result<plan::Stream> stream_of(PlanningDevice const& device, plan::Queue queue);
// Measures by events on the handle's stream.
Result<std::unique_ptr<plan::Stopwatch>> stopwatch_of(PlanningDevice const& device, plan::Queue queue);

}  // namespace cudnn_frontend::cudnn
