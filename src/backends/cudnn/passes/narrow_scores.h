// The scores of 8-bit attention.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Where the graph has no scale, scores and backward's gradients of them are multiplied by 1: engines know 8-bit
// attention with the factor alone.
Draft multiply_narrow_scores(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
