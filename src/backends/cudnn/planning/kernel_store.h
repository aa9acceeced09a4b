// The user's kernel cache as cuDNN takes it.
#pragma once

#include "cudnn/library/descriptor.h"
#include "cudnn/planning/shared_graph.h"

#include <memory>

namespace cudnn_frontend::cudnn {

// The part of the cache that is the graph's: made where there is none, of what the cache has read where that is the
// graph's.
Result<std::shared_ptr<Descriptor const>> kernels_for(KernelCache& cache, SharedGraph const& graph);

}  // namespace cudnn_frontend::cudnn
