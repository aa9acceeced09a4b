// The least time that a GPU's products and memory allow.
#pragma once

#include "input.h"
#include "timing/work.h"

#include <optional>

namespace sdpa {

struct Roofline {
    double operations_per_second = 0.0;  // dense products of 16-bit numbers with float sums, at the highest clock
    double bytes_per_second = 0.0;
};

// Nothing for a compute capability whose products have another rate on each card, or whose rate is not known here.
std::optional<Roofline> roofline_of(fe::DeviceProperties const& device);

double least_seconds(Roofline const& roofline, Work const& work);

}  // namespace sdpa
