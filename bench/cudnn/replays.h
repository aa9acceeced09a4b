// A program as a CUDA graph, and as calls on the CPU.
#pragma once

#include "gpu_attention.h"

#include <cstddef>
#include <optional>
#include <string>

namespace bench {

// Times are microseconds.
struct Replay {
    char const* name = nullptr;
    std::size_t steps = 0, kernels = 0;
    double sum_of_steps = 0.0;               // on the GPU, each step alone
    double time_in_order = 0.0, time = 0.0;  // a chain of the steps, and the program's own CUDA graph
    double call_of_given = 0.0, call = 0.0;  // on the CPU: execute() of the graph as given, and of the program
    double call_of_part = 0.0;               // for a program of one step: its attention as a graph of its own
    std::string part = {};                   // the plan of that graph

    // Whether a replay takes at most 1.1 of the steps' sum.
    bool is_fast() const;
    // Whether a call takes at most as many times a call of the graph as given as there are steps. Where engines differ
    // in the cost of their calls, at most 1.1 of a call of the program's only part.
    bool is_called_fast() const;
};

// Prints the measurements, or the failure.
std::optional<Replay> measure_replay(Gpu const& gpu, Row const& row, fe::graph::Graph& given,
                                     fe::graph::Graph& program);
void print_replay_heading();
void print_verdict(Replay const& replay);

}  // namespace bench
