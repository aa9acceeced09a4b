// The form in which a call becomes a graph.
#pragma once

#include "functions/attention/call.h"

namespace sdpa_graph::attention {

// A graph is as the caller's padded tensors are, or has slots, of which tables say where they start and how long they
// are. In slots packed tensors do not depend on where sequences lie. In a class of shapes all tensors of rows are
// packed ones, so that a graph with room for more and longer sequences serves too.
struct Form {
    bool has_slots = false;
    bool is_class = false;  // sizes are rounded up
    // A slot for each query head: heads that lie outside of the rows are at distances that depend on lengths.
    bool has_slots_of_heads = false;
    std::int64_t growth = 1;  // of the sizes of a class, times this: its plan serves this call too

    bool operator==(Form const&) const = default;
};

// The form for the shapes of the call alone.
Form exact_form(Call const& call);
// The form for a class of shapes; the exact one if the call has something whose strides depend on lengths.
Form class_form(Call const& call, Sizes const& sizes);

}  // namespace sdpa_graph::attention
