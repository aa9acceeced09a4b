// Op graph -> operation graph. The op graph is one that ir::verify() accepts and that passes/ have legalized.
#pragma once

#include "cudnn/library/lowered_graph.h"
#include "cudnn/passes/legal_graph.h"

namespace cudnn_frontend::cudnn {

struct LoweringOptions {
    bool dynamic_shapes = false;
    bool unfuses_multiplication = false;  // of attention as one operation, in kernels for 10.x
};

Result<LoweredGraph> lower(LegalGraph const& graph, Api const& api, LoweringOptions const& options);

}  // namespace cudnn_frontend::cudnn
