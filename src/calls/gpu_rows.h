// Work on rows in a GPU's memory; an error in builds without cuDNN.
#pragma once

#include "core/result.h"
#include "rows/worker.h"

#include <sdpa_graph/tensor_view.h>

struct CUstream_st;

namespace sdpa_graph::calls {

// On the GPU of the tensor, whose elements have 16 bits where the work looks at any.
cudnn_frontend::error_t work_on_gpu(cudnn_frontend::rows::Work const& work, Tensor_view const& tensor,
                                    CUstream_st* stream);

}  // namespace sdpa_graph::calls
