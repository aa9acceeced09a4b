// Memory of a GPU as the host reads it: by the CUDA driver, or an error that says why there is none.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <span>
#include <string>

namespace cudnn_frontend::api {

// Waits for all work of the thread's CUDA context.
error_t wait_for_gpu();
error_t read_gpu(std::span<std::byte> to, void const* from);
// The ordinal of the device of the thread's CUDA context.
Result<int> current_gpu();
// The newest version of CUDA that the driver serves, such as "13.0"; empty where no driver is loaded.
std::string driver_version();

}  // namespace cudnn_frontend::api
