// Op graph -> operation graph. The op graph is one that ir::verify() accepts.
#pragma once

#include "cudnn/library/lowered_graph.h"
#include "ir/op_graph.h"

namespace cudnn_frontend::cudnn {

struct LoweringOptions {
    bool dynamic_shapes = false;
};

Result<LoweredGraph> lower(ir::OpGraph const& graph, Api const& api, LoweringOptions const& options);

}  // namespace cudnn_frontend::cudnn
