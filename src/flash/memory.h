// Memory of results.
#pragma once

#include "calls/memory.h"
#include "flash/call.h"

namespace sdpa_graph::flash {

// The call, as it asks for memory.
calls::Asker asker_of(Call const& call);

// Makes the result of the argument: what was passed, else what the allocator gives. From then on the call has it.
error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& result);

}  // namespace sdpa_graph::flash
