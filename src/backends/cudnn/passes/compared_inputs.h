// Comparisons in modifiers.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// In a mask that compares a tensor of integers in memory with another one, or with a constant, the first is added to the
// row minus itself: engines compare computed values with values that they read.
Draft compute_compared_inputs(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
