// The environment of plans on a GPU: all that a plan depends on besides its graph.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <string>

namespace sdpa_graph::calls {

struct Environment {
    std::string folder;  // a name for files of this environment
    std::string text;    // the library, cuDNN, the driver, the GPU, and settings that change plans
};

cudnn_frontend::Result<Environment> environment_of_plans(std::int32_t device);

}  // namespace sdpa_graph::calls
