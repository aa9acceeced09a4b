// Whether two tensors in host memory have an element in common.
#pragma once

#include "pipeline/pack.h"

namespace cudnn_frontend::inline v1::pipeline {

// Exact for tensors that one pointer starts, that have gaps nowhere, or that have the same strides (such as Q, K and V
// interleaved in one buffer). For two tensors of different strides that interleave it answers no.
bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data);

}  // namespace cudnn_frontend::inline v1::pipeline
