#include "api/gpu_memory.h"

namespace cudnn_frontend::api {

static error_t no_driver() {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library cannot read a GPU's memory, because no headers of CUDA were found when it was "
            "configured; install them (pip install nvidia-cuda-runtime) and build the library again"};
}

error_t wait_for_gpu() { return no_driver(); }
error_t read_gpu(std::span<std::byte>, void const*) { return no_driver(); }
Result<int> current_gpu() { return no_driver(); }
std::string driver_version() { return {}; }

}  // namespace cudnn_frontend::api
