// The stand-in for the CUDA driver with which cuDNN plans on machines that have no GPU.
#pragma once

#include "core/result.h"

namespace cudnn_frontend::inline v1::offline {

// Makes it the process's libcuda.so.1. An error where the real one is there already: the two cannot be told apart
// later. Call it before cuDNN is loaded; more calls do no harm.
error_t load_null_driver();

bool null_driver_is_loaded();

}  // namespace cudnn_frontend::inline v1::offline
