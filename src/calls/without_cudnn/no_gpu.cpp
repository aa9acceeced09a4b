// The parts of calls that need a GPU, in a library without cuDNN.
#include "calls/background.h"
#include "calls/lease.h"
#include "calls/row_work.h"

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

// NOLINTNEXTLINE(performance-unnecessary-value-param): with a GPU it is moved from
bool enqueue_background(std::int32_t, BackgroundWork) { return false; }

bool is_recorded(fe::Target const&) noexcept { return false; }

void use_gpu(std::int32_t) noexcept {}

fe::error_t work_on_gpu(fe::rows::Work const&, Tensor_view const&, CUstream_st*) {
    return {fe::error_code_t::GRAPH_NOT_SUPPORTED,
            "found tensors on a GPU; this library was built without cuDNN, and needs tensors on a CPU: copy them, or "
            "build the library where cuDNN's headers are"};
}

}  // namespace sdpa_graph::calls
