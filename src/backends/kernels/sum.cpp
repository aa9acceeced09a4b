#include "kernels/sum.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(SumProblem const& sum) {
    Problem problem{"sum", {{"x", &sum.x, true, false, false}, {"y", &sum.y, false, true, false}}, 1, false};
    problem.allows_counts = true;
    if (sum.accumulates) problem.operands.push_back({"y, to read", &sum.y, false, false, false});
    return problem;
}

Result<KernelPointer> compile_sum(SumProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_sum(SumProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
