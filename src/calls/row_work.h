// Work on rows in the memory of a call's tensors, on a CPU or a GPU.
#pragma once

#include "calls/lease.h"
#include "rows/worker.h"

struct CUstream_st;

namespace sdpa_graph::calls {

// Where a call's tensors are, and the target that computes there.
struct Site {
    Place const& place;
    Lease const& lease;
    Tensor_view const& tensor;  // one of them
};

// Runs on the threads of a host, or on the stream of a GPU.
cudnn_frontend::error_t work_on_rows(Site const& site, cudnn_frontend::rows::Work const& work);

// Runs on the GPU of the tensor; an error in builds without cuDNN. If the work reads or writes elements of tensors,
// they have 16 bits.
cudnn_frontend::error_t work_on_gpu(cudnn_frontend::rows::Work const& work, Tensor_view const& tensor,
                                    CUstream_st* stream);

// Sets all elements to the value, which is 0 if they have 16 bits.
cudnn_frontend::rows::Fill fill(Tensor_view const& view, float value);

}  // namespace sdpa_graph::calls
