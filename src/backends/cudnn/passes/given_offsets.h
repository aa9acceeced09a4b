// Ragged offsets for dense tensors.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Engines take matrices that are all ragged, or that are all dense. Beside ragged ones a dense one is a ragged one with
// room for as many rows in each batch entry: entry b starts at b times the stride.
Draft give_offsets(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
