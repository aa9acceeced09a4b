// Graphs of one neighborhood attention as kernels, one after the other.
#pragma once

#include "kernels/neighborhood.h"
#include "nodes/schema/validate.h"

#include <cstdint>
#include <vector>

namespace cudnn_frontend::kernels {

// Where an operand is: in a tensor of the user's, or in the workspace.
struct NeighborhoodPlace {
    bool is_in_workspace = false;
    std::int64_t uid = 0;
};

struct NeighborhoodStep {
    NeighborhoodProblem problem;
    std::vector<NeighborhoodPlace> places;  // of the operands that there are, in order
};

struct NeighborhoodSteps {
    std::vector<NeighborhoodStep> steps;
    std::int64_t workspace_bytes = 0;
    bool has_unaligned_rows = false;  // tensors that need not begin at multiples of 16 bytes

    // Why they cannot run by tiles; empty where they can.
    std::string reason_against_tiles() const;
};

bool is_neighborhood(nodes::ValidatedGraph const& graph);

// Of such a graph. An error where no kernel computes what it says.
Result<NeighborhoodSteps> neighborhood_steps(nodes::ValidatedGraph const& graph);

}  // namespace cudnn_frontend::kernels
