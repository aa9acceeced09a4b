// Makes kernels of problems whose elements are computed independently of each other.
#pragma once

#include "kernels/device/joints/strided_arguments.h"
#include "kernels/launch/code.h"
#include "kernels/launch/strided_problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// The code of such kernels: for types of the elements, and threads that are counted in 64 bits or not.
CodeName strided_code(std::string const& kernel, DataType_t from, DataType_t to, bool is_wide, int compute_capability);

Result<KernelPointer> compile(Problem const& problem, DeviceFacts const& device);
Result<KernelPointer> load(Problem const& problem, DeviceFacts const& device, std::string_view stored);

// A kernel's threads go over its operands in nested loops over the dims that all operands share, with as few loops as
// strides allow, the innermost where the memory of the first operand is closest together.

// A thread's share of the result.
enum class Share { Element, Vector, PairOfVectors };

// A launch without its pointers.
struct LaunchForm {
    Share share = Share::Element;
    unsigned blocks = 0, threads = 0;
    KernelArguments arguments{};
};

struct LaunchForms {
    LaunchForm elements;                            // a thread has one element of the result
    std::optional<LaunchForm> vectors;              // 16 bytes of the first operand or twice that, where strides allow
    std::vector<std::uintptr_t> vector_alignments;  // the alignment that it needs of each operand's address, in bytes
    bool is_wide = false;                           // threads, parts and places in an operand are counted in 64 bits
};

// Small problems get small blocks, and threads one vector, so that all multiprocessors have work. The problem has
// passed check().
LaunchForms launch_forms(Problem const& problem, int multiprocessors);

}  // namespace cudnn_frontend::kernels
