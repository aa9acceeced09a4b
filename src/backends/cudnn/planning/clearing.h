// Zeros in results of which engines leave rows unwritten.
#pragma once

#include "cudnn/passes/legal_graph.h"
#include "cudnn/planning/step_beside.h"

namespace cudnn_frontend::cudnn {

// Dense results that were given offsets, which have no gaps. Null where there are none.
Result<std::shared_ptr<StepBeside const>> clearing_of(LegalGraph const& graph, plan::PackLayout const& layout);

}  // namespace cudnn_frontend::cudnn
