// Rows that scores share.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// A tensor that is combined with scores has its one row repeated where engines broadcast it wrong: in backward a row of
// numbers, and everywhere a number for each batch entry. One for each head alone is right. A stride of 0 means the
// same, but costs time.
Draft repeat_rows(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
