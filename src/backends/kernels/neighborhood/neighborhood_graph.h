// Graphs of one neighborhood attention as kernels, one after the other.
#pragma once

#include "kernels/launch/kernel_chain.h"
#include "kernels/neighborhood/neighborhood_kernel.h"
#include "nodes/validation/validate.h"

#include <cstdint>
#include <vector>

namespace cudnn_frontend::kernels {

struct NeighborhoodStep {
    NeighborhoodKernelProblem problem;
    std::vector<KernelPlace> places;  // of the operands that there are, in order
};

struct NeighborhoodSteps {
    NeighborhoodForm form;
    std::vector<NeighborhoodStep> steps;
    std::int64_t workspace_bytes = 0;
    bool has_unaligned_rows = false;  // tensors that need not begin at multiples of 16 bytes

    // The reason why they cannot run in their form; empty where they can.
    std::string reason_against(DeviceFacts const& device) const;
    // Whether the bits are the same in every run.
    bool is_deterministic() const;
};

bool is_neighborhood(nodes::ValidatedGraph const& graph);

// The steps of such a graph. An error where no kernel computes what it says.
Result<NeighborhoodSteps> neighborhood_steps(nodes::ValidatedGraph const& graph, NeighborhoodForm form);

}  // namespace cudnn_frontend::kernels
