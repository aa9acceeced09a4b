// A device that graphs are planned for, and the queues that order its work.
#pragma once

#include "cuda/device_facts.h"
#include "plan/seam/backend.h"

#include <functional>
#include <memory>
#include <string>

namespace cudnn_frontend::kernels {

struct QueueDevice {
    cuda::DeviceFacts facts;
    std::function<error_t(plan::Queue)> check_queue;
    std::function<Result<plan::Stream>(plan::Queue)> stream_of;
    std::function<Result<std::unique_ptr<plan::Stopwatch>>(plan::Queue)> stopwatch_of;
    std::string name;
};

// Targets as devices. Only those of streams are known here.
struct Devices {
    bool has_handles = false;  // whether targets of handles, and those that are not here, are known
    Result<QueueDevice> (*find)(Target const&, plan::Settings const&);
    // A text that distinguishes the device from others.
    Result<std::string> (*identity)(Target const&, plan::Settings const&);
};

}  // namespace cudnn_frontend::kernels
