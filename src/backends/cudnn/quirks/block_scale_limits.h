// The checks of the limits on block-scaled attention, which stand in the table: they are asked about no other.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found block_scale_fatal_place(Facts const& facts, Capabilities const& here);
Found block_scale_place(Facts const&, Capabilities const& here);
Found block_scale_backward(Facts const& facts, Capabilities const& here);
Found block_scale_head_dims(Facts const& facts, Capabilities const& here);
Found block_scale_of_one_query(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
