// Changes to the rows' maximum, sum and logarithm that engines need.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Where the user asks for either maximum or sum, the other is in memory too: engines write both or, through a wild
// pointer, fail.
Draft place_softmax_rows(Draft draft);

// Adds the logarithm of the sum plus the maximum, where nothing reads it: engines recognize inference by it. Not with a
// maximum or a sum in memory, which they then leave unwritten.
Draft add_unread_logarithm(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
