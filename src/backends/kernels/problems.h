// Problems as lists of operands.
#pragma once

#include "kernels/merge.h"
#include "kernels/operands.h"
#include "kernels/split_lengths.h"
#include "kernels/sum.h"

namespace cudnn_frontend::kernels {

// They point into the problem.
Problem operands_of(MergeProblem const& merge);
Problem operands_of(SumProblem const& sum);
Problem operands_of(SplitLengthsProblem const& split);

}  // namespace cudnn_frontend::kernels
