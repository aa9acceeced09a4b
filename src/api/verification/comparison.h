// Results compared with those of the reference: the tolerance, and the worst element.
#pragma once

#include "api/verification/problem.h"

#include <cudnn_frontend/verification.h>

namespace cudnn_frontend::verification {

// The roundoff of the coarsest type of the attention's tensors: targets round probabilities to it. At least `least`.
double roundoff_of_inputs(Problem const& problem, double least);

// Compares the problem's memory of a result with the reference's. Dims are counted from `origin`, which is empty for
// a whole tensor.
Compared_result compare(Problem const& problem, TensorId id, Memory const& expected, double roundoff_of_inputs,
                        Dims const& origin = {});

// Without elements, where there are none to compare.
Compared_result nothing_compared(Problem const& problem, TensorId id);

// Adds the comparison of another part of the same result.
void merge(Compared_result& all, Compared_result const& part);

}  // namespace cudnn_frontend::verification
