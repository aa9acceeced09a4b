// Comparisons in modifiers.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// In a mask that compares two tensors of integers in memory, the first is added to the row minus itself: engines
// compare computed values with values that they read.
Draft compute_compared_inputs(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
