// The checks of the limits on forward attention of FLOAT tensors.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found dropout_of_floats(Facts const& facts, Capabilities const& here);
Found head_dims_of_floats(Facts const& facts, Capabilities const& here);
Found one_query_of_floats(Facts const& facts, Capabilities const& here);
Found sink_of_floats(Facts const& facts, Capabilities const& here);
Found unified_floats(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
