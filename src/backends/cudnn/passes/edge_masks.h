// Masks that engines know by their form.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Writes comparisons from their other side. Where row >= column, or >, selects scores, engines see the right edge of a
// band and skip the tiles beyond it; of several such masks, as a modifier and an option may make them, they apply a
// single one. So the last stays, and the others become column <= row, which is arithmetic as any other to them. And
// where row < column selects scores, planning backward ends the process.
Draft turn_edge_masks(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
