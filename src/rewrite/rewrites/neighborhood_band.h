// Neighborhood attention along one axis as attention of other engines. The windows of most queries are a band around
// the diagonal; those of the first queries are one range of keys, and so are those of the last. The groups of a
// dilation are heads, which strides alone make them.
#pragma once

#include "core/result.h"
#include "rewrite/program.h"

namespace cudnn_frontend::rewrite {

Result<Program> neighborhood_band(nodes::ValidatedGraph const& graph);

}  // namespace cudnn_frontend::rewrite
