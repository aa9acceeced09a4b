// The gradient of a sink, apart from attention's other gradients.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Engines add dSink up in any order, include rows past the lengths of ragged tensors, and multiply it by the kept share
// of generated dropout. In these cases this library computes it, and engines get the other gradients alone.
Draft separate_sink_gradient(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
