// Masks that engines know by their form.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Writes comparisons from their other side. Where row >= column, or >, selects scores, engines recognize the right edge
// of a band and skip the tiles beyond it. They apply only one of several such masks, as a modifier and an option may
// make them. So the last stays, and the others become column <= row, which engines treat as any other arithmetic. And
// where row < column selects scores, planning backward ends the process.
Draft turn_edge_masks(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
