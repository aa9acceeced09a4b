// The gradient of queries, dQ = dS K, in the forms that engines of backward accept.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Reads K as the transpose of its transpose.
Draft restore_keys(Draft draft);

// Blocks of keys add to an accumulator in memory in whatever order they finish, which is fastest. A fixed order, the
// gradient of a bias and 8 bits need the product in one piece.
Draft accumulate_gradient_of_queries(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
