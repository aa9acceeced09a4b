// Work on rows in a GPU's memory; an error in builds without cuDNN.
#pragma once

#include "core/result.h"
#include "rows/worker.h"

#include <sdpa_graph/tensor_view.h>

struct CUstream_st;

namespace sdpa_graph::calls {

// Works on the GPU of the tensor. If the work reads or writes elements of tensors, they have 16 bits.
cudnn_frontend::error_t work_on_gpu(cudnn_frontend::rows::Work const& work, Tensor_view const& tensor,
                                    CUstream_st* stream);

}  // namespace sdpa_graph::calls
