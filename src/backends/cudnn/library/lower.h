// Op graph -> operation graph. The op graph has passed ir::verify() and was legalized by passes/.
#pragma once

#include "cudnn/library/lowered_graph.h"
#include "cudnn/passes/legal_graph.h"

namespace cudnn_frontend::cudnn {

struct LoweringOptions {
    bool dynamic_shapes = false;
    bool unfuses_multiplication = false;  // for attention as one operation, in kernels for 10.x
};

Result<LoweredGraph> lower(LegalGraph const& graph, Api const& api, LoweringOptions const& options);

}  // namespace cudnn_frontend::cudnn
