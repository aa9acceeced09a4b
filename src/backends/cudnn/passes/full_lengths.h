// Backward without a padding mask.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Gives every sequence its full length as a length where there is one query, or where the last tile of keys is not
// full: engines can give NaN there. With the user's dropout mask it does so where half a tile is left.
Draft mask_by_full_lengths(Draft draft);

// With that mask it does so for every other rest too, which needs a quarter more time.
Draft mask_by_full_lengths_beside_mask(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
