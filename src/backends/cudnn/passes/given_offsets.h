// Ragged offsets for dense tensors.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Engines accept matrices that are all ragged or all dense. In a graph with ragged matrices a dense one becomes ragged:
// its entry b starts at b times the batch stride.
Draft give_offsets(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
