// Graphs of one attention, forward or backward, as kernels.
#pragma once

#include "kernels/attention/attention_kernel.h"
#include "kernels/launch/kernel_chain.h"
#include "nodes/validation/validate.h"

#include <vector>

namespace cudnn_frontend::kernels {

struct AttentionGraph {
    AttentionKernelProblem problem;
    std::vector<KernelPlace> places;  // of its pointers, in order
    plan::PackLayout layout;
};

bool is_attention(nodes::ValidatedGraph const& graph);

// Such a graph for a device. An error with every reason why the kernels do not compute it.
Result<AttentionGraph> read_attention(nodes::ValidatedGraph const& graph, DeviceFacts const& device);

}  // namespace cudnn_frontend::kernels
