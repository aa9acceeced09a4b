// Makes kernels of problems whose elements are computed independently of each other.
#pragma once

#include "kernels/code.h"
#include "kernels/operands.h"

#include <string>
#include <string_view>

namespace cudnn_frontend::kernels {

// The code of such kernels: for types of the elements, and threads that are counted in 64 bits or not.
CodeName strided_code(std::string const& kernel, DataType_t from, DataType_t to, bool is_wide, int compute_capability);

Result<KernelPointer> compile(Problem const& problem, DeviceFacts const& device);
Result<KernelPointer> load(Problem const& problem, DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
