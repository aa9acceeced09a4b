// Memory of results.
#pragma once

#include "calls/memory.h"
#include "flash/call.h"

namespace sdpa_graph::flash {

// The call, as it asks for memory.
calls::Asker asker_of(Call const& call);

// A result that was not passed gets the allocator's memory, as `made`, which from then on the call has.
error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& made);

// The view of the argument as a result, or one without memory. Programs pass the result itself in most calls.
void take(Call const& call, Argument argument, Tensor_view& result);

}  // namespace sdpa_graph::flash
