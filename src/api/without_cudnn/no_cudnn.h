// The error of everything that needs cuDNN in a build without its headers.
#pragma once

#include <cudnn_frontend/status.h>

namespace cudnn_frontend::api {

inline error_t no_cudnn() {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library has no cuDNN target, because no headers of cuDNN 9.10 or newer and CUDA were "
            "found when it was configured; build it with Target::cpu() or Target::reference() and host pointers, or "
            "configure with SDPA_GRAPH_CUDNN_INCLUDE_DIR and SDPA_GRAPH_CUDA_INCLUDE_DIR"};
}

}  // namespace cudnn_frontend::api
