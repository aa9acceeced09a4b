// The problem of an attention with other sizes, for which its code serves too.
#pragma once

#include "kernels/attention/attention_problem.h"
#include "kernels/launch/kernel_chain.h"

#include <span>

namespace cudnn_frontend::kernels {

// The places are those of the problem's pointers. An error where the shapes are not those of an attention that the
// kernels can run, or need other code, or the problem has packed sequences, or a score modifier that reads tensors or
// hides scores.
Result<AttentionKernelProblem> resized(AttentionKernelProblem const& problem, std::span<KernelPlace const> places,
                                       plan::TensorShapes shapes);

}  // namespace cudnn_frontend::kernels
