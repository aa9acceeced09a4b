// The masks of the bands in the form in which engines know them.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// Backward, but of 8 bits: Stats are subtracted from the scores before the band is masked and not after it.
Draft mask_bands_late(Draft draft);

// Where numbers alone shift the column of a left edge, they are one number in floating point.
Draft add_left_bounds_as_floats(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
