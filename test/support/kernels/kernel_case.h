// A case of the library's own kernels: what they compute, and their tensors on the host. Random ones with a formula in
// fp64 for the results are in joint_cases.h, sink_gradient_cases.h and neighborhood_kernel_cases.h.
#pragma once

#include "kernels/joints/joint_kernels.h"
#include "kernels/joints/sink_gradient.h"
#include "kernels/neighborhood/neighborhood_forms.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sdpa_test {

namespace kernels = cudnn_frontend::kernels;

// A tensor with its memory, around and between whose elements bytes must stay as they are.
struct KernelTensor {
    std::string name;
    kernels::Operand operand;
    std::vector<std::byte> bytes;
    std::size_t start = 0;  // of its first element, in bytes
    // The results of an output, if they are known before a run: in the order of the dims, rounded to a type on the way
    // to the output, and with a factor that they still lack.
    std::vector<double> expected = {};
    cudnn_frontend::DataType_t rounded_to = cudnn_frontend::DataType_t::NOT_SET;
    double factor = 1;

    std::byte* data() { return bytes.data() + start; }
    std::byte const* data() const { return bytes.data() + start; }
    // An element by its offset.
    double get(std::int64_t offset) const;
    void set(std::int64_t offset, double number);
};
using KernelTensors = std::vector<KernelTensor>;

using JointProblem = std::variant<kernels::MergeProblem, kernels::SumProblem, kernels::SplitLengthsProblem>;

// A kernel, and the case's tensors that its pointers are of, in their order.
struct KernelStep {
    std::variant<JointProblem, kernels::SinkGradientProblem, kernels::NeighborhoodKernelProblem> problem;
    std::vector<std::size_t> tensors;

    JointProblem const& joint() const { return std::get<JointProblem>(problem); }
    kernels::SinkGradientProblem const& sink_gradient() const {
        return std::get<kernels::SinkGradientProblem>(problem);
    }
    kernels::NeighborhoodKernelProblem const& neighborhood() const {
        return std::get<kernels::NeighborhoodKernelProblem>(problem);
    }
};

struct KernelCase {
    std::string name;
    KernelTensors tensors;
    std::vector<KernelStep> steps;

    std::string text() const;  // dims, strides, types
};

}  // namespace sdpa_test
