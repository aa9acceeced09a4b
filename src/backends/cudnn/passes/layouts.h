// How tensors that lie in memory are described to engines.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// A last dim of 1 has a stride of 1, which says the same: engines read any other as the layout of a bias.
Draft tidy_last_strides(Draft draft);

// The user's dropout mask has no more alignment than its rows' length: forward's engines read rows in pieces of the
// alignment, and past their end where it does not divide them. Backward's do not, and need the same time either way.
Draft align_dropout_masks(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
