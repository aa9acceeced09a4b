// Runs calls that were checked. Results are set if that succeeds.
#pragma once

#include "calls/result_memory.h"
#include "flash/call.h"

namespace sdpa_graph::flash {

error_t run_forward(Call& call, Forward_results& results);
error_t run_backward(Call& call, Backward_results& results);

// --- Memory of results

// The call as one that asks for memory.
calls::Asker asker_of(Call const& call);

// If a result was not passed, gets memory for it from the allocator, as `made`, and makes it the call's argument.
error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& made);

// The view of the argument as a result, or a view without memory. In most calls programs pass the result itself.
void take(Call const& call, Argument argument, Tensor_view& result);

}  // namespace sdpa_graph::flash
