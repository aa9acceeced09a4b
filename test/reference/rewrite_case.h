// Seeded random cases to which a rewrite applies. The same index gives the same case, always.
#pragma once

#include "support/attention_case.h"

#include <cudnn_frontend/graph.h>

namespace sdpa_test {

AttentionCase few_queries_case(std::uint64_t index);
AttentionCase bands_case(std::uint64_t index);
AttentionCase slices_case(std::uint64_t index);

// Asks for the rewrite alone. Half of the cases with slices do not use the fewest.
void ask_for(cudnn_frontend::Rewrite_t rewrite, AttentionCase const& c, cudnn_frontend::graph::Graph& graph);

}  // namespace sdpa_test
