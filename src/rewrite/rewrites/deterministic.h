// Backward by the deterministic algorithm, for which engines have kernels of their own: of some head dims these are
// faster, though they keep all scores in memory.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

std::span<Condition const> deterministic_conditions();

Result<Program> deterministic(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
