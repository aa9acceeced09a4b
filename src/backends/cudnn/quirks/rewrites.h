// The rows of the table that passes answer: cuDNN gets another form of these graphs.
#pragma once

#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::quirks {

std::span<Quirk const> rewrites();

}  // namespace cudnn_frontend::quirks
