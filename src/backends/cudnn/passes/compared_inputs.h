// Comparisons in modifiers.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// A mask that compares two tensors of integers in memory adds the first to the row less itself: engines compare what
// they computed with what they read.
Draft compute_compared_inputs(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
