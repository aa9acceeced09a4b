// Problems as lists of operands.
#pragma once

#include "kernels/merge.h"
#include "kernels/operands.h"
#include "kernels/sum.h"

namespace cudnn_frontend::kernels {

// They point into the problem.
Problem operands_of(MergeProblem const& merge);
Problem operands_of(SumProblem const& sum);

}  // namespace cudnn_frontend::kernels
