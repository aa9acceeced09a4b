// The environment that a graph is planned for: the library that plans, the device, and whether the device is there to
// run on.
#pragma once

#include "cuda/device_facts.h"
#include "cudnn/library/device.h"
#include "plan/seam/backend.h"

#include <cudnn_frontend/target.h>

#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

struct PlanningDevice {
    Api const* api = nullptr;
    std::shared_ptr<Device const> device;
    bool is_live = false;
};

// The device of a target; for Target::cuda(nullptr) the one of the properties, or the first one if there are no
// properties.
Result<PlanningDevice> find_planning_device(Target const& target, DeviceProperties const* properties);

// The facts for which kernels are compiled, and by which they are compared.
Result<cuda::DeviceFacts> facts_of(Device const& device);

// The environments whose stored plans run on the device, its own first: the versions of the library, of cuDNN and of
// the driver, and the GPU's name. Plans that were made without a driver run with all of them. None if the driver does
// not say its version.
std::vector<std::string> environments_of(PlanningDevice const& device);

// A text that distinguishes the device of a target from others. cuDNN is called only where there are several GPUs.
Result<std::string> identity_of_device(Target const& target, DeviceProperties const* properties);

// The JSON of a device as cuDNN words it: the handle's or the one of the ordinal; of a name; of a text that holds it.
Result<std::string> record_device(cudnnHandle_t handle, std::int32_t ordinal);
Result<std::string> find_device(std::string const& name);
Result<std::string> parse_device(std::string const& json);
std::vector<std::string> device_names();

// cuDNN handles as queues of work, on which plans of any backend run on a device that cuDNN plans for.

// An error if the device is not here, or the handle is null.
error_t check_queue(PlanningDevice const& device, plan::Queue queue);
// The handle's stream. Makes the device's context current if the thread has none.
Result<plan::Stream> stream_of(PlanningDevice const& device, plan::Queue queue);
// Launches on the handle's stream.
std::unique_ptr<plan::Replays> replays_on(PlanningDevice const& device);
// Measures by events on the handle's stream.
Result<std::unique_ptr<plan::Stopwatch>> stopwatch_of(PlanningDevice const& device, plan::Queue queue);

}  // namespace cudnn_frontend::cudnn
