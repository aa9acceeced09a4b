#include "kernels/sum.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(SumProblem const& sum) {
    Problem problem{"sum", {{"x", 0, &sum.x, true, false}, {"y", 1, &sum.y, false, true}}, 1, false};
    if (sum.accumulates) problem.operands.push_back({"y, to read", 2, &sum.y, false, false});
    return problem;
}

Result<KernelPointer> compile_sum(SumProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_sum(SumProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
