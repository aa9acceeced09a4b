// The error of everything that needs cuDNN in a build without its headers.
#pragma once

#include <cudnn_frontend/status.h>

namespace cudnn_frontend::api {

inline error_t no_cudnn() {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library has no cuDNN target, because no headers of cuDNN 9.10 or newer and CUDA were "
            "found when it was configured; build the graph with Target::cpu() or Target::reference() and host "
            "pointers, or install the headers (pip install nvidia-cudnn-cu13 nvidia-cuda-runtime nvidia-cuda-crt) and "
            "build the library again"};
}

}  // namespace cudnn_frontend::api
