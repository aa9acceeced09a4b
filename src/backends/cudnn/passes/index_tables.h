// For one query in forward, engines split its keys into parts. There, values that depend on the index of a column or of
// a head come from tables.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// The biases of ALiBi: each part counts its columns from 0, and with pages the slope is that of another head.
Draft tabulate_alibi(Draft draft);

// The columns and heads that a modifier counts: each part counts its columns from 0, and key heads where they are
// shared. The index becomes the row, which is 0, plus a table, because engines accept no first operand that lies in
// memory.
Draft tabulate_indices(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
