// What kernels are compiled for, and launched by, as a value: of a GPU that is here, or of a named one.
#pragma once

#include "core/result.h"

namespace cudnn_frontend::cuda {

struct DeviceFacts {
    int compute_capability = 0;  // 90 for 9.0
    int multiprocessors = 0;
};

Result<DeviceFacts> device_facts(int ordinal);

}  // namespace cudnn_frontend::cuda
