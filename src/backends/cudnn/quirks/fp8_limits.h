// The checks of the limits on 8-bit attention, which stand in the table: they are asked about no other.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

Found fp8_architecture(Facts const& facts, Capabilities const& here);
Found fp8_head_dims(Facts const& facts, Capabilities const& here);
Found fp8_results(Facts const& facts, Capabilities const& here);
Found fp8_sink(Facts const& facts, Capabilities const& here);
Found fp8_wide_o(Facts const& facts, Capabilities const& here);
Found fp8_of_one_query(Facts const& facts, Capabilities const& here);
Found fp8_dropout(Facts const& facts, Capabilities const& here);
Found fp8_modifier_gradient(Facts const& facts, Capabilities const& here);
Found fp8_ragged(Facts const& facts, Capabilities const& here);
Found fp8_deterministic(Facts const& facts, Capabilities const& here);
Found fp8_ignored(Facts const& facts, Capabilities const& here);
Found fp8_rows(Facts const& facts, Capabilities const& here);
Found fp8_heads(Facts const& facts, Capabilities const& here);
Found fp8_band(Facts const& facts, Capabilities const& here);
Found fp8_extremes(Facts const& facts, Capabilities const& here);
Found fp8_pages(Facts const& facts, Capabilities const& here);
Found fp8_factors(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
