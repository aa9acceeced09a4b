// The checks of the limits that look into the nodes of a score modifier.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found several_left_edges(Facts const& facts, Capabilities const& here);
Found integers_of_floats(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
