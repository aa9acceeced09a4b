// The facts for which kernels are compiled, with which they are launched and by which they are compared, as a value: of
// a GPU that is here, or of a named one.
#pragma once

#include "core/result.h"

#include <string_view>

namespace cudnn_frontend::cuda {

struct DeviceFacts {
    int compute_capability = 0;  // 90 for 9.0
    int multiprocessors = 0;
    std::string_view rates = {};  // its measured times (rates.h); empty where it was not measured
};

Result<DeviceFacts> device_facts(int ordinal);

}  // namespace cudnn_frontend::cuda
