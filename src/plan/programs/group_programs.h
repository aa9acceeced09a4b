// Graphs that a group computes, as a proposal.
#pragma once

#include "plan/planner.h"

namespace cudnn_frontend::plan {

// Proposes the rank's program in place of the graph, whose part it is; the graph alone would be another attention.
Result<Planner::Proposed> propose_in_group(PlanningInput const& input, Backends const& backends);

}  // namespace cudnn_frontend::plan
