// Graphs that are planned for their class of shapes.
#pragma once

#include "plan/planner.h"

namespace cudnn_frontend::plan {

// The policy of the graph, or else of the process, as it applies to the target: never AUTO. All engines of a host serve
// all shapes, so that ALL_SHAPES is EXACT there.
ShapePolicy_t shape_policy_of(Target const& target, Settings const& settings);
// Whether engines whose code serves all shapes are asked before others.
bool may_be_for_all_shapes(Target const& target, Settings const& settings);

// The layout that packs of such a graph have to fit.
Result<PackLayout> layout_of_class(PlanningInput const& input);

// Proposes the program of the graph's class. An error says why the graph cannot be in a class, or no engine takes it.
Result<Planner::Proposed> propose_class(PlanningInput const& input, Backends const& backends);

}  // namespace cudnn_frontend::plan
