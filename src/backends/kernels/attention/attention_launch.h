// Problems of attention as launches.
#pragma once

#include "cuda/tensor_map.h"
#include "kernels/attention/attention_kernel.h"
#include "kernels/launch/code.h"

#include <array>
#include <optional>

namespace cudnn_frontend::kernels {

// The columns that code is compiled for: those of queries and keys, and those of values. Tensors may have fewer, in
// whose place the copy engine puts zeros.
struct AttentionClass {
    int columns, value_columns;
};
inline constexpr std::array kAttentionClasses = {AttentionClass{64, 64}, AttentionClass{128, 128},
                                                 AttentionClass{192, 128}, AttentionClass{256, 256}};

// The smallest class; nothing for more columns than any has.
std::optional<AttentionClass> class_of(AttentionKernelProblem const& problem);

// A launch without its pointers, and so without the copy engine's forms of the tensors.
struct AttentionLaunch {
    AttentionArguments arguments{};
    cuda::BoxedTensor queries, keys, values, output;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
};

// For a problem without a reason against it.
AttentionLaunch attention_launch(AttentionKernelProblem const& problem, int multiprocessors);

// Puts in the pointers except those of the copy engine's tensors, which are the first four.
void bind(AttentionKernelProblem const& problem, AttentionArguments& arguments, Pointers pointers);

CodeName attention_code(AttentionKernelProblem const& problem);

}  // namespace cudnn_frontend::kernels
