// Forward attention of few queries over many keys: the query heads that share a head of keys become rows of one, and
// the keys are split, so that engines that work by tiles of rows and heads fill the GPU. Partial results are merged.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

std::span<Condition const> few_queries_conditions();

// With the keys in so many splits of equal size. What is left over is one more part, as is the end of a causal mask.
Result<Program> few_queries(Attention const& attention, std::int64_t splits);

}  // namespace cudnn_frontend::rewrite
