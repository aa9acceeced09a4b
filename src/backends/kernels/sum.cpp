#include "kernels/sum.h"

#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {
namespace {

Problem with_names(SumProblem const& sum) {
    Problem problem{"sum", {{"x", &sum.x, true, false, false}, {"y", &sum.y, false, true, false}}, 1, false};
    if (sum.accumulates) problem.operands.push_back({"y, to read", &sum.y, false, false, false});
    return problem;
}

}  // namespace

Result<KernelPointer> compile_sum(SumProblem const& problem, DeviceFacts const& device) {
    return compile(with_names(problem), device);
}

Result<KernelPointer> load_sum(SumProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(with_names(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
