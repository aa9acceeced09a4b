// The checks of the limits on how tensors lie in memory.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found stride_multiple(Facts const& facts, Capabilities const& here);
Found gaps_between_scores(Facts const& facts, Capabilities const& here);
Found columns_apart(Facts const& facts, Capabilities const& here);
Found numbers_apart(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
