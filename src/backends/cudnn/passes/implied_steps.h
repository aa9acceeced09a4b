// Steps that engines perform without being asked.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Backward: the gradient of a sink is the negative of a sum. Engines change the sign themselves.
Draft leave_sinks_sign(Draft draft);

// Forward with block scales: engines scale probabilities before they round them to 8 bits, and scale the weighted
// values back.
Draft leave_probabilities_scale(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
