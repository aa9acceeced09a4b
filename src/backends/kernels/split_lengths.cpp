#include "kernels/split_lengths.h"

#include "kernels/problems.h"
#include "kernels/strided_kernel.h"

namespace cudnn_frontend::kernels {

Problem operands_of(SplitLengthsProblem const& split) {
    Problem problem{"split_lengths", {}, 2, true};
    problem.operands = {{"queries", 0, &split.queries, false, false, Holds::Lengths},
                        {"keys", 1, &split.keys, false, false, Holds::Lengths},
                        {"rows", 2, &split.rows, false, true, Holds::Lengths},
                        {"part_keys", 3, &split.part_keys, false, true, Holds::Lengths}};
    problem.has_vectors = false;
    problem.numbers = {split.group, split.chunk};
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
