// Attention by kernels of the library's own (device/attention).
#pragma once

#include "kernels/attention/attention_problem.h"

#include <memory>
#include <optional>
#include <string_view>

namespace cudnn_frontend::kernels {

// The kernels of a problem, in the order in which they run. All need all pointers.
enum class AttentionWork {
    Entries,
    BlockBits,
    BlockScores,
    DropoutMask,
    Forward,
    GradientStart,
    Gradients,
    GradientEnd,
    BiasGradientEnd
};
std::vector<AttentionWork> works_of(AttentionKernelProblem const& problem);

using AttentionProblemPointer = std::shared_ptr<AttentionKernelProblem const>;

// Compiles a kernel of a problem without a reason against it, or loads it where the result of Kernel::serialize() is
// given, which is that of a problem of the same types, columns and options.
Result<KernelPointer> make_kernel(AttentionProblemPointer const& problem, AttentionWork work, DeviceFacts const& device,
                                  std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::kernels
