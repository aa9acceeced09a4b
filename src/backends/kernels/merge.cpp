#include "kernels/merge.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(MergeProblem const& merge) {
    Problem problem{"merge", {}, 2, true};
    problem.operands = {{"partial_o", 0, &merge.partial_o, true, false, Holds::Elements},
                        {"partial_stats", 1, &merge.partial_stats, true, false, Holds::Statistics},
                        {"o", 2, &merge.o, false, true, Holds::Elements}};
    if (merge.stats) problem.operands.push_back({"stats", 3, &*merge.stats, false, true, Holds::Statistics});
    if (merge.partial_lengths) {
        problem.operands.push_back({"partial_lengths", 4, &*merge.partial_lengths, true, false, Holds::Lengths});
    }
    return problem;
}

Result<KernelPointer> compile_merge(MergeProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_merge(MergeProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
