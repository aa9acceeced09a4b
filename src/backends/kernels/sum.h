// Sums partial results, such as the gradients of K and V from slices of the query heads.
#pragma once

#include "kernels/kernel.h"

#include <string_view>

namespace cudnn_frontend::kernels {

// y = sum over i of x_i, added up in fp32 in the order of the parts, with the previous content of y as the first if
// `accumulates`. The pointer to y is then given twice: to write, and to read.
struct SumProblem {
    Operand x;  // {parts, ...}, up to kMaxDims after the parts
    Operand y;  // {...}
    bool accumulates = false;
};

Result<KernelPointer> compile_sum(SumProblem const& problem, DeviceFacts const& device);
// Loads the result of Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_sum(SumProblem const& problem, DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
