// Problems of attention as launches.
#pragma once

#include "cuda/tensor_map.h"
#include "kernels/attention/attention_problem.h"
#include "kernels/device/attention/attention_arguments.h"
#include "kernels/launch/code.h"

namespace cudnn_frontend::kernels {

// The code with a kernel of the problem.
CodeName code_of(AttentionKernelProblem const& problem, AttentionWork work);

// A launch without its pointers.
template <class Arguments>
struct AttentionLaunch {
    std::size_t function = 0;  // of the code's
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    Arguments arguments{};
};

// The source of the addresses in arguments.
struct AttentionPointers {
    Pointers pointers;
    Result<TensorMap> (*encode)(cuda::BoxedTensor const& tensor, void* start);

    void* at(std::size_t number) const { return pointers[number]; }
};

// For problems without a reason against them.
AttentionLaunch<EntryArguments> entry_launch(AttentionKernelProblem const& problem);
AttentionLaunch<BlockBitsArguments> block_bits_launch(AttentionKernelProblem const& problem);
AttentionLaunch<BlockBitsArguments> block_scores_launch(AttentionKernelProblem const& problem);
AttentionLaunch<BlockMaskArguments> block_mask_launch(AttentionKernelProblem const& problem);
AttentionLaunch<DropoutMaskArguments> dropout_mask_launch(AttentionKernelProblem const& problem);
AttentionLaunch<AttentionArguments> forward_launch(AttentionKernelProblem const& problem, int multiprocessors);
AttentionLaunch<GradientStartArguments> gradient_start_launch(AttentionKernelProblem const& problem);
AttentionLaunch<GradientArguments> gradient_launch(AttentionKernelProblem const& problem, int multiprocessors);
AttentionLaunch<GradientEndArguments> gradient_end_launch(AttentionKernelProblem const& problem);
AttentionLaunch<BiasGradientEndArguments> bias_gradient_end_launch(AttentionKernelProblem const& problem);

// Puts the addresses in.
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, EntryArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BlockBitsArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BlockMaskArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, DropoutMaskArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, AttentionArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientStartArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, GradientEndArguments& to);
error_t bind(AttentionKernelProblem const& problem, AttentionPointers const& from, BiasGradientEndArguments& to);

}  // namespace cudnn_frontend::kernels
