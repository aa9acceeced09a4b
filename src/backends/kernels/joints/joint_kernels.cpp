#include "kernels/joints/joint_kernels.h"

#include "kernels/launch/strided_kernel.h"

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

Problem operands_of(SplitLengthsProblem const& split) {
    Problem problem{"split_lengths", {}, 2, true};
    problem.operands = {{"queries", 0, &split.queries, false, false, Holds::Lengths},
                        {"keys", 1, &split.keys, false, false, Holds::Lengths},
                        {"rows", 2, &split.rows, false, true, Holds::Lengths},
                        {"part_keys", 3, &split.part_keys, false, true, Holds::Lengths}};
    problem.has_vectors = false;
    problem.numbers = {split.group, split.chunk, split.first_query, split.most_queries, split.first_key};
    return problem;
}

Result<KernelPointer> compile_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device) {
    return compile(operands_of(problem), device);
}

Result<KernelPointer> load_split_lengths(SplitLengthsProblem const& problem, DeviceFacts const& device,
                                         std::string_view stored) {
    return load(operands_of(problem), device, stored);
}

}  // namespace cudnn_frontend::kernels
