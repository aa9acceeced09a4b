// The rows of the table that passes answer: what cuDNN is given another form of.
#pragma once

#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::quirks {

std::span<Quirk const> rewrites();

}  // namespace cudnn_frontend::quirks
