// A program as a CUDA graph, and as calls on the CPU.
#pragma once

#include "gpu_attention.h"

namespace bench {

// Prints how long a replay takes beside its steps alone, and a call of execute() beside one of the graph as given: at
// most 1.1 of the steps' sum, and at most as many times the call's time as there are steps. Returns whether they are.
bool measure_replay(Gpu const& gpu, Row const& row, fe::graph::Graph& given, fe::graph::Graph& program);
void print_replay_heading();

}  // namespace bench
