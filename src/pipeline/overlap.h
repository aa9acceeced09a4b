// Whether two tensors have an element in common.
#pragma once

#include "pipeline/pack.h"

namespace cudnn_frontend::pipeline {

// Exact for tensors that one pointer starts, that have gaps nowhere, or that have the same strides (such as Q, K and V
// interleaved in one buffer). Tensors of different strides that interleave share memory unless a period shows that they
// do not, of which each uses a part of its own (such as O and Stats side by side in each row of a buffer): a sharing is
// never missed, and an interleaving without such a period is refused.
bool share_memory(Slot const& a, void const* a_data, Slot const& b, void const* b_data);

// A tensor in memory; of a ragged one its sequences, in order and apart from each other.
struct Placed {
    Slot const& slot;
    void const* data;
    cpu::PackedSequences const& sequences;
};

// The same of tensors that may be ragged, whose rows alone count.
bool share_memory(Placed const& a, Placed const& b);

// Of a ragged tensor: rows of one of its sequences, at least one.
Slot sequence_slot(Slot const& ragged, std::int64_t rows);

}  // namespace cudnn_frontend::pipeline
