// The gradient of a sink, apart from attention's other gradients.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Engines add dSink up in any order, add rows past the lengths of ragged tensors, and multiply it by what generated
// dropout keeps. There this library computes it, and engines are told of the other gradients alone.
Draft take_sink_gradient_out(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
