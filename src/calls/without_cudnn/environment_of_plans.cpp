#include "calls/environment_of_plans.h"

namespace sdpa_graph::calls {

cudnn_frontend::Result<Environment> environment_of_plans(std::int32_t) {
    return cudnn_frontend::error_t(cudnn_frontend::error_code_t::INVALID_CUDA_DEVICE,
                                   "the library is built without cuDNN");
}

}  // namespace sdpa_graph::calls
