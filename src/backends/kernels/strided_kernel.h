// Makes kernels of problems whose elements are computed one apart from the other.
#pragma once

#include "kernels/operands.h"

#include <string_view>

namespace cudnn_frontend::kernels {

Result<KernelPointer> compile(Problem const& problem, DeviceFacts const& device);
Result<KernelPointer> load(Problem const& problem, DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
