// The stand-in for the CUDA driver with which cuDNN plans on machines that have no GPU.
#pragma once

#include "core/result.h"

namespace cudnn_frontend::offline {

// Makes it the process's libcuda.so.1, for as long as the process lives. Call it before anything asks for the driver;
// more calls do no harm. Safe from many threads. An error where another driver is loaded: cuDNN would use that one.
error_t load_null_driver();

bool null_driver_is_loaded();

}  // namespace cudnn_frontend::offline
