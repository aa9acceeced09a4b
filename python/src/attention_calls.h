// Calls of attention as a function, for tensors by their names.
#pragma once

#include "torch_calls.h"

#include <sdpa_graph/attention.h>

namespace binding {

// An input that the call does not have is empty.
sdpa_graph::attention::Inputs inputs_of(Tensors const& tensors);

}  // namespace binding
