// Runs calls that were checked. Results are set if that succeeds.
#pragma once

#include "flash/call.h"

namespace sdpa_graph::flash {

error_t run_forward(Call& call, Forward_results& results);
error_t run_backward(Call& call, Backward_results& results);

}  // namespace sdpa_graph::flash
