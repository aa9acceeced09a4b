// Random problems for the kernels of joints, with data on the host and an fp64 formula for the expected results.
#pragma once

#include "support/kernels/kernel_case.h"

#include <cstdint>
#include <string>

namespace sdpa_test {

// The operands that a joint's tensors are of, in their order; they point into the problem.
kernels::Problem operands_of(JointProblem const& problem);
cudnn_frontend::Result<kernels::KernelPointer> compile(JointProblem const& problem, kernels::DeviceFacts const& device);

// Some have rows without visible keys in any part, or parts without visible keys or without keys, next to NaN, and NaN
// that must show in the result.
KernelCase random_joint_case(std::uint64_t seed);

// The fault in the tensors after a run; empty where there is none.
std::string fault_of_joint(KernelCase const& before, KernelTensors const& after);

}  // namespace sdpa_test
