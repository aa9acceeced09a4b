// Backward without a padding mask.
#pragma once

#include "core/capabilities.h"
#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Every sequence gets its full length as a length where the last tile of keys is not full, or there is one query:
// engines can give NaN there. Beside the user's dropout mask, where that takes a quarter more time, it is left out as
// far as engines mask the rest of the tile themselves.
Draft mask_by_full_lengths(Draft draft, core::Capabilities const& capabilities);

}  // namespace cudnn_frontend::cudnn::passes
