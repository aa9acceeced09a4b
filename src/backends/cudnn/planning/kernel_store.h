// The user's kernel cache in cuDNN's form.
#pragma once

#include "cudnn/library/descriptor.h"
#include "cudnn/planning/shared_graph.h"

#include <memory>

namespace cudnn_frontend::cudnn {

// The graph's part of the cache. If there is none, it is made, from the text that the cache has read if that has this
// part.
Result<std::shared_ptr<Descriptor const>> kernels_for(KernelCache& cache, SharedGraph const& graph);

}  // namespace cudnn_frontend::cudnn
