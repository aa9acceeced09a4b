// Seeded random cases to which a rewrite applies. The same index gives the same case, always.
#pragma once

#include "support/attention_case.h"

#include <cudnn_frontend/graph.h>

#include <variant>

namespace sdpa_test {

AttentionCase few_queries_case(std::uint64_t index);
AttentionCase bands_case(std::uint64_t index);
AttentionCase slices_case(std::uint64_t index);
AttentionCase class_case(std::uint64_t index);

// A rewrite, or a policy that makes programs.
using Rewriting = std::variant<cudnn_frontend::Rewrite_t, cudnn_frontend::ShapePolicy_t>;

// Asks for it alone. Half of the cases with slices do not use the fewest.
void ask_for(Rewriting const& rewriting, AttentionCase const& c, cudnn_frontend::graph::Graph& graph);

}  // namespace sdpa_test
