// The gradient of queries, dQ = dS K, as engines of backward take it.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// K comes once more from its transpose.
Draft restore_keys(Draft draft);

// Blocks of keys add to an accumulator in memory in whatever order they finish, which is fastest. A fixed order, the
// gradient of a bias and 8 bits need the product in one piece.
Draft accumulate_gradient_of_queries(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
