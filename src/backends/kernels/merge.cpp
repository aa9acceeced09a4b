#include "kernels/merge.h"

#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {
namespace {

Problem with_names(MergeProblem const& merge) {
    Problem problem{"merge", {}, 2, true};
    problem.operands = {{"partial_o", &merge.partial_o, true, false, false},
                        {"partial_stats", &merge.partial_stats, true, false, true},
                        {"o", &merge.o, false, true, false}};
    if (merge.stats) problem.operands.push_back({"stats", &*merge.stats, false, true, true});
    return problem;
}

}  // namespace

Result<KernelPointer> compile_merge(MergeProblem const& problem, DeviceFacts const& device) {
    return compile(with_names(problem), device);
}

Result<KernelPointer> load_merge(MergeProblem const& problem, DeviceFacts const& device, std::string_view stored) {
    return load(with_names(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
