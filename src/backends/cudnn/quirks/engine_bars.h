// The rows of the table that bar engines.
#pragma once

#include "cudnn/quirks/quirk.h"

namespace cudnn_frontend::quirks {

std::span<Quirk const> engine_bars();

}  // namespace cudnn_frontend::quirks
