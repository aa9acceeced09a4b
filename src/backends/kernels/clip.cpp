#include "kernels/clip.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(ClipProblem const& clip) {
    Problem problem{"clip", {{"x", &clip.x, false, false, false}, {"y", &clip.y, false, true, false}}, 1, true};
    problem.allows_counts = true;
    problem.number = clip.chunk;
    return problem;
}

Result<KernelPointer> compile_clip(ClipProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_clip(ClipProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
