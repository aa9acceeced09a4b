// A call bound to the plan of its class.
#pragma once

#include "calls/lease.h"
#include "calls/plan.h"
#include "flash/describe.h"
#include "flash/lengths.h"
#include "flash/memory.h"

#include <optional>

namespace sdpa_graph::flash {

using calls::Lease;
using calls::Pack;

// Memory that a run needs beside the caller's. It outlives the run on a CPU; on a GPU there is none.
struct Scratch {
    std::optional<Lengths> lengths;     // of packed sequences
    std::vector<std::int32_t> table;    // of pages
    std::unique_ptr<float[]> log_sums;  // of packed sequences, in the order of the graph
};

Scratch scratch_of(Call const& call, Sizes const& sizes);

// The tensors that all passes read.
Pack inputs_of(Call const& call, Shapes const& shapes, Scratch& scratch);

// Finds the plan of the shapes and runs it.
error_t run(Call const& call, Shapes const& shapes, Lease const& lease, Pack const& pack);

}  // namespace sdpa_graph::flash
