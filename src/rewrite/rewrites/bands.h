// Backward of a band, a two-sided window or one at the bottom right, as a causal window at the top left, which engines
// compute without the tiles outside: seen from keys that are shifted by the right bound, it is one. The first queries
// also see keys before the shift, and the last ones have no diagonal: these borders are computed on their own and
// added.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

std::span<Condition const> bands_conditions();

Result<Program> bands(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
