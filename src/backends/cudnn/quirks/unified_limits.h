// The checks of the limits on cuDNN's one operation for the whole of forward attention, and on what it alone has.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found unified_version(Facts const& facts, Capabilities const& here);
Found unified_lengths(Facts const& facts, Capabilities const& here);
Found unified_options(Facts const& facts, Capabilities const& here);
Found block_mask_place(Facts const& facts, Capabilities const& here);
Found block_mask_options(Facts const& facts, Capabilities const& here);
Found composite_block_mask(Facts const& facts, Capabilities const& here);
Found block_mask_of_one_query(Facts const& facts, Capabilities const& here);
Found sums_of_lengths(Facts const& facts, Capabilities const& here);
Found offset_multiplier(Facts const& facts, Capabilities const& here);
Found unfused_multiplication(Facts const& facts, Capabilities const& here);
Found options_beside_unified(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
