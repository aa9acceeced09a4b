// Forward attention of few queries, as in decoding: keys and values are read once, as they lie in memory.
#pragma once

#include "cpu/attention/attention_problem.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// Whether these sizes are those of few queries, and whether masks, a bias or ALiBi alone change their scores.
bool has_few_queries(AttentionShape const& shape);
bool attends_few_queries(AttentionProblem const& problem);

// Bytes of workspace.
std::int64_t few_queries_workspace(AttentionTensors const& tensors, int threads);
void attend_few_queries(AttentionTensors const& tensors, AttentionProblem const& problem, int threads, void* workspace);

}  // namespace cudnn_frontend::cpu
