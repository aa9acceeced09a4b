// The tensors of a call bound to the plan of its class.
#pragma once

#include "calls/class_plan.h"
#include "flash/describe.h"
#include "flash/works.h"

namespace sdpa_graph::flash {

// The tensors that both passes read.
calls::Pack inputs_of(Run const& run);

}  // namespace sdpa_graph::flash
