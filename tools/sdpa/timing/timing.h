// The times of a built graph's runs.
#pragma once

#include "data/memory.h"
#include "input.h"

#include <functional>

namespace sdpa {

struct Timing_options {
    std::int64_t runs = 20;
    double most_seconds = 5.0;  // after these no further run begins, once there are three
    bool has_cold_cache = false;
};

struct Times {
    std::vector<double> milliseconds;  // ascending, at least one

    double at(double share) const;  // 0.5 is the median
};

// Calls progress(number of the run) before each. The first runs, which load code and fill caches, are not measured.
Times time_runs(fe::Target const& target, fe::graph::Graph const& graph, Memories& memories,
                Timing_options const& options, std::function<void(std::int64_t)> const& progress);

}  // namespace sdpa
