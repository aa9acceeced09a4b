#include "flash/gpu_work.h"

namespace sdpa_graph::flash {

error_t work_on_gpu(Call const& call, CUstream_st*, fe::rows::Work const&) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            std::string(call.function) + ": found tensors on a GPU; this library was built without cuDNN, and needs " +
                "tensors on a CPU: copy them, or build the library where cuDNN's headers are"};
}

}  // namespace sdpa_graph::flash
