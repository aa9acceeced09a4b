// The plan of a call.
#pragma once

#include "calls/class_plan.h"
#include "functions/attention/shapes.h"

namespace sdpa_graph::attention {

struct Chosen {
    Form form;
    Shapes shapes;
    std::shared_ptr<calls::Plan<Shapes> const> plan;
};

// A plan of the call's class where the place's policy wants one and there is one, else the plan of its exact shapes.
fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease);

}  // namespace sdpa_graph::attention
