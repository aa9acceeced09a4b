// Whom a graph is planned for: the library that plans, the device, and whether the device is there to run on.
#pragma once

#include "cudnn/library/device.h"

#include <cudnn_frontend/target.h>

namespace cudnn_frontend::pipeline {

struct PlanningDevice {
    cudnn::Api const* api = nullptr;
    std::shared_ptr<cudnn::Device const> device;
    bool is_live = false;
};

// The device of a target; for Target::cuda(nullptr) that of the properties, or the first one where there are none.
Result<PlanningDevice> find_planning_device(Target const& target, DeviceProperties const* properties);

}  // namespace cudnn_frontend::pipeline
