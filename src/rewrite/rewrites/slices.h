// Backward attention in slices of heads or batch entries, one after the other, so that a workspace that grows with the
// number of heads is that of a slice.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

std::span<Condition const> slices_conditions();

// The numbers of slices, up to a thousand, that divide heads and batch entries; ascending, without 1.
std::vector<std::int64_t> slice_counts(Attention const& attention);

Result<Program> slices(Attention const& attention, std::int64_t count);

}  // namespace cudnn_frontend::rewrite
