// The work on rows that a run needs before and after its graph.
#pragma once

#include "functions/attention/scratch.h"
#include "rows/worker.h"

namespace sdpa_graph::attention {

struct Run {
    Call const& call;
    Sizes const& sizes;
    Form const& form;
    Shapes const& shapes;
    Scratch const& scratch;
};

// Whether the graph reads lengths or tables that the caller does not pass.
bool needs_tables(Run const& run);
fe::rows::Work write_tables(Run const& run);

// Zeros in rows of results that a graph in slots does not write; nothing if there are none.
fe::rows::Work clear_padding(Run const& run);

}  // namespace sdpa_graph::attention
