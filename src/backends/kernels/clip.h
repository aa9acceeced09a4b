// The lengths of sequences in each of some chunks of them.
#pragma once

#include "kernels/kernel.h"

#include <string_view>

namespace cudnn_frontend::kernels {

// y[..., i] = x[..., i] - i * chunk, but at least 0 and at most the chunk.
struct ClipProblem {
    Operand x, y;  // INT32 {..., chunks}; strides of x may repeat a length for all chunks
    std::int64_t chunk;
};

Result<KernelPointer> compile_clip(ClipProblem const& problem, DeviceFacts const& device);
// From Kernel::serialize() for the same problem and device.
Result<KernelPointer> load_clip(ClipProblem const& problem, DeviceFacts const& device, std::string_view stored);

}  // namespace cudnn_frontend::kernels
