// Backward's memory for packed sequences, where the user says in which row the last one ends.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Sums of packed sequences lie packed as well, where that is less than room for the longest sequence in each batch
// entry: the rows' sums, dQ's accumulator, and dK and dV of the query heads before heads that share keys are added up.
Draft pack_scratch(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
