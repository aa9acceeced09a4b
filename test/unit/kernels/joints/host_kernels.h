// The kernels, compiled as C++ and run on the host.
#pragma once

#include "kernels/launch/strided_kernel.h"

#include <string>

namespace sdpa_test {

// Runs all threads of a launch, one after the other, on host memory.
void run_on_host(std::string const& kernel, cudnn_frontend::DataType_t from, cudnn_frontend::DataType_t to,
                 bool is_wide, cudnn_frontend::kernels::LaunchForm const& form);

}  // namespace sdpa_test
