// The rows of the table that passes answer: what cuDNN is given another form of.
#pragma once

#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::quirks {

constexpr std::string_view kLowScoresBesideMask = "cudnn.w13";

std::span<Quirk const> rewrites();

}  // namespace cudnn_frontend::quirks
