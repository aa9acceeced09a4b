// The stand-in for the CUDA driver with which cuDNN plans on machines without a GPU.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <span>

namespace cudnn_frontend::offline {

// Makes it the process's libcuda.so.1, for as long as the process lives. Call it before anything opens the driver;
// further calls do nothing. Thread-safe. An error if another driver is loaded, which cuDNN would use.
error_t load_null_driver();

bool null_driver_is_loaded();

// The null driver's library file, as part of this one.
std::span<std::byte const> null_driver_bytes();

}  // namespace cudnn_frontend::offline
