// Measures the time from start to stop.
#pragma once

#include "core/result.h"

#include <memory>

namespace cudnn_frontend::plan {

class Stopwatch {
   public:
    virtual ~Stopwatch() = default;

    virtual error_t start() = 0;
    virtual Result<double> stop() = 0;  // microseconds
};

// For work that is done when its call returns.
std::unique_ptr<Stopwatch> host_stopwatch();

}  // namespace cudnn_frontend::plan
