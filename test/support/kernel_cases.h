// Random problems for the library's own kernels, with data on the host and an fp64 formula for the expected results.
#pragma once

#include "kernels/joints/joint_kernels.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sdpa_test {

namespace kernels = cudnn_frontend::kernels;

// The memory of an operand, with bytes around it and between its elements that must stay as they are.
struct KernelBuffer {
    std::vector<std::byte> bytes;
    std::size_t start = 0;  // of its first element

    std::byte* data() { return bytes.data() + start; }
    std::byte const* data() const { return bytes.data() + start; }
};
using KernelBuffers = std::vector<KernelBuffer>;

struct KernelCase {
    std::variant<kernels::MergeProblem, kernels::SumProblem, kernels::SplitLengthsProblem> problem;
    KernelBuffers buffers;  // by operand

    kernels::Problem operands() const;
    cudnn_frontend::Result<kernels::KernelPointer> compile(kernels::DeviceFacts const& device) const;
    std::string text() const;  // dims, strides, types
};

// Some have rows without visible keys in any part, or parts without visible keys or without keys, next to NaN, and NaN
// that must show in the result.
KernelCase random_kernel_case(std::uint64_t seed);

// The fault in the buffers after a run; empty where there is none.
std::string fault_of(KernelCase const& before, KernelBuffers const& after);

}  // namespace sdpa_test
