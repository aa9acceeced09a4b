// Whether two tensors have an element in common.
#pragma once

#include "pipeline/pack.h"

namespace cudnn_frontend::inline v1::pipeline {

// Exact for tensors that one pointer starts, that have gaps nowhere, or that have the same strides (such as Q, K and V
// interleaved in one buffer). Tensors of different strides that interleave share memory unless a period shows that they
// do not, of which each uses a part of its own (such as O and Stats side by side in each row of a buffer): a sharing is
// never missed, and an interleaving without such a period is refused.
bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data);

}  // namespace cudnn_frontend::inline v1::pipeline
