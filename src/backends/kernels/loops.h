// How a kernel's threads go over its operands: nested loops over the dims that all operands share, with as few loops as
// strides allow, the innermost where the memory of the first operand is closest together.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/operands.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudnn_frontend::kernels {

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
