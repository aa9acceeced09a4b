// The parts of calls that need a GPU, in a library without cuDNN.
#include "calls/background.h"
#include "calls/environment_of_plans.h"
#include "calls/gpu_rows.h"

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

bool do_later(std::int32_t, Later) { return false; }

fe::Result<Environment> environment_of_plans(std::int32_t) {
    return fe::error_t(fe::error_code_t::INVALID_CUDA_DEVICE, "the library is built without cuDNN");
}

fe::error_t work_on_gpu(fe::rows::Work const&, Tensor_view const&, CUstream_st*) {
    return {fe::error_code_t::GRAPH_NOT_SUPPORTED,
            "found tensors on a GPU; this library was built without cuDNN, and needs tensors on a CPU: copy them, or "
            "build the library where cuDNN's headers are"};
}

}  // namespace sdpa_graph::calls
