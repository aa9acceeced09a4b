#include "kernels/merge.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(MergeProblem const& merge) {
    Problem problem{"merge", {}, 2, true};
    problem.operands = {{"partial_o", &merge.partial_o, true, false, false},
                        {"partial_stats", &merge.partial_stats, true, false, true},
                        {"o", &merge.o, false, true, false}};
    if (merge.stats) problem.operands.push_back({"stats", &*merge.stats, false, true, true});
    return problem;
}

Result<KernelPointer> compile_merge(MergeProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_merge(MergeProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
