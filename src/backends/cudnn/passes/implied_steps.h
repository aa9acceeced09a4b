// What engines do without being asked.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Backward: the gradient of a sink is minus a sum, of which engines change the sign.
Draft leave_sinks_sign(Draft draft);

// Forward with block scales: engines scale probabilities before they round them to 8 bits, and what these weigh back.
Draft leave_probabilities_scale(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
