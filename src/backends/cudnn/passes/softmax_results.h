// What engines want of the rows' maximum, sum and logarithm besides what the graph gives.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Where the user asks for one of maximum and sum, the other is in memory too: engines write both or, through a wild
// pointer, fail.
Draft place_softmax_rows(Draft draft);

// The logarithm of the sum plus the maximum, where nobody reads it: engines know inference by it. Not beside a maximum
// or a sum in memory, which they then leave unwritten.
Draft add_unread_logarithm(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
