// Operands that operations read as true or false.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Comparisons and logical operations give BOOLEAN where their results are only read as true or false. Other integers
// that are read so are compared with 0 first.
Draft make_predicates_boolean(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
