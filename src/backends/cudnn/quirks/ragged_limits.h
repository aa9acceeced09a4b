// The checks of the limits on ragged tensors.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found partly_ragged(Facts const& facts, Capabilities const& here);
Found ragged_stats_of_one_query(Facts const& facts, Capabilities const& here);
Found ragged_sink_gradient(Facts const& facts, Capabilities const& here);
Found ragged_architecture(Facts const& facts, Capabilities const& here);
Found ragged_product_of_dq(Facts const& facts, Capabilities const& here);
Found ragged_gaps_between_rows(Facts const& facts, Capabilities const& here);
Found ragged_heads_before_9_19(Facts const& facts, Capabilities const& here);
Found ragged_heads_of_v(Facts const& facts, Capabilities const& here);
Found ragged_unequal_heads(Facts const& facts, Capabilities const& here);
Found gradient_offsets_before_9_19(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
