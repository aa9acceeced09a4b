// Attention by kernels of the library's own (device/attention).
#pragma once

#include "kernels/attention/attention_problem.h"

#include <memory>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

using AttentionProblemPointer = std::shared_ptr<AttentionKernelProblem const>;

// Compiles a kernel of a problem without a reason against it, or loads it where the result of Kernel::serialize() is
// given, which is that of a problem of the same types, columns and options.
Result<KernelPointer> make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);
// The kernel with code that is there: that of a problem which differs in sizes and strides alone.
KernelPointer make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                          std::shared_ptr<Code const> code);

}  // namespace cudnn_frontend::kernels
