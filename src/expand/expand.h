// ValidatedGraph -> OpGraph: pure functions, one small function for each step of the mathematics.
#pragma once

#include "ir/op_graph.h"
#include "nodes/schema/validate.h"

namespace cudnn_frontend::expand {

// What the op graph is made for.
struct Capabilities {
    // Attention as one operation: not at all, for nodes that ask for it, or wherever the node leaves the choice.
    enum class Fused { Never, OnRequest, Preferred };
    Fused fused_attention = Fused::Never;
    // Backward without lengths gets the full lengths as lengths where the last tile of keys is not full, or there is
    // one query: cuDNN's Hopper engines can give NaN there without. Not beside a dropout mask, where they do without.
    bool full_lengths_in_backward = false;
    // Backward's engines mask what is left of the last tile of keys themselves, unless it is half a tile.
    bool masks_last_tile = false;
};

Result<ir::OpGraph> expand(nodes::ValidatedGraph const& graph, Capabilities const& capabilities);

}  // namespace cudnn_frontend::expand
