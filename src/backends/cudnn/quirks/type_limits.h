// The checks of the limits that are about data types.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found io_type(Facts const& facts, Capabilities const& here);
Found result_types(Facts const& facts, Capabilities const& here);
Found bias_gradient_type(Facts const& facts, Capabilities const& here);
Found sink_type(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
