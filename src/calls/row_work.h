// Work on rows in the memory of a call's tensors, wherever that is.
#pragma once

#include "calls/lease.h"
#include "rows/worker.h"

namespace sdpa_graph::calls {

// Where a call's tensors are, and who computes there.
struct Site {
    Place const& place;
    Lease const& lease;
    Tensor_view const& tensor;  // one of them
};

// By the threads of a host, or on the stream of a GPU.
cudnn_frontend::error_t work_on_rows(Site const& site, cudnn_frontend::rows::Work const& work);

// All elements get the value, which is 0 where they have 16 bits.
cudnn_frontend::rows::Fill fill(Tensor_view const& view, float value);

}  // namespace sdpa_graph::calls
