// The gradients of sum(O * d_o) by central differences of the oracle's forward pass.
#pragma once

#include "reference/oracle/oracle.h"

namespace oracle {

Backward central_differences(Problem const& problem, Array const& d_o);

// The error of central differences for well-scaled problems (all values of order 1): the step's square from truncation,
// fp64 rounding over the step from cancellation, with a factor for the number of terms.
inline constexpr double kDifferenceError = 1e-8;

}  // namespace oracle
