// The orders in which engines know the factors of dropout.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Forward: the user's mask comes after its scale, a drawn one before.
Draft scale_before_given_mask(Draft draft);

// Backward: the scale of drawn dropout is applied after the row's sum was subtracted, and is removed from that sum;
// that of the user's mask is applied with the mask. Engines compute other forms wrong.
Draft scale_drawn_gradients_late(Draft draft);

// Backward: the row's sum is multiplied by a factor, 1 where there is none. It marks for engines where the sum ends and
// the gradient of the scores begins. The result lies in memory, except in 8-bit attention.
Draft end_row_sums(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
