// The masks of the bands in the form in which engines know them.
#pragma once

#include "cudnn/passes/draft.h"

namespace cudnn_frontend::cudnn::passes {

// For backward that is not 8-bit: Stats are subtracted from the scores before the band is masked and not after it.
Draft mask_bands_late(Draft draft);

// Where only numbers shift the column of a left edge, they become one number in floating point.
Draft add_left_bounds_as_floats(Draft draft);

}  // namespace cudnn_frontend::cudnn::passes
