// The checks of the limits on one query: engines have kernels of their own for it, which split its keys.
#pragma once

#include "cudnn/quirks/limit_tools.h"

namespace cudnn_frontend::quirks {

bool is_wrong_in_parts(Facts const& facts);

Found mask_of_one_query(Facts const& facts, Capabilities const& here);
Found bias_of_one_query(Facts const& facts, Capabilities const& here);
Found single_score(Facts const& facts, Capabilities const& here);
Found heads_of_one_query_in_pages(Facts const& facts, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
