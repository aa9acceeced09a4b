// Plans that a background thread makes for calls to come, and shapes of which no engine makes one.
#pragma once

#include "calls/class_plan.h"
#include "functions/attention/shapes.h"

namespace sdpa_graph::attention {

using CallPlan = calls::ClassPlan<Shapes>;

// Whether the error says that no engine makes a plan, so that other shapes or another form may have one.
bool is_refusal(error_t const& failure);

// Shapes of which no engine made a plan: asking again would take as long.
bool is_refused(Shapes const& shapes);
void note_refused(Shapes const& shapes);

// Plans the shapes in the background, unless they are refused.
void prepare(Shapes const& shapes);

// The same for the plan of a kind, whose graph is that of an example. One example may be refused for its strides or
// sizes, so that the kind is refused once several are.
void prepare_kind(Shapes const& kind, Shapes const& example);

}  // namespace sdpa_graph::attention
