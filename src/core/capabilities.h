// The cuDNN version and the device of a plan: a value, so that tests can choose any.
#pragma once

#include <cstddef>

namespace cudnn_frontend::core {

struct Capabilities {
    std::size_t cudnn_version = 0;  // 91900 for 9.19.0
    int sm = 0;                     // compute capability, 90 for 9.0
};

}  // namespace cudnn_frontend::core
