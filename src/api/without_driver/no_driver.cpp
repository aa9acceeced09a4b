// The memory of GPUs and groups of GPUs, in a build without CUDA.
#include "api/gpu_memory.h"
#include "group/group_rules.h"

#include <sdpa_graph/group.h>

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

namespace sdpa_graph {

using cudnn_frontend::error_t;

static error_t no_nccl() {
    namespace rules = cudnn_frontend::group::rules;
    return rules::violation(rules::kNccl, "a build of the library without CUDA", "one with CUDA's headers",
                            "build it where cuda.h is found, or use Group::of_threads()");
}

error_t Group::make_nccl_id(Nccl_id&) noexcept { return no_nccl(); }
error_t Group::of_nccl(Nccl_id const&, int, int, Group_limits const&, Group&) noexcept { return no_nccl(); }
error_t Group::of_nccl_file(std::string const&, int, int, Group_limits const&, Group&) noexcept { return no_nccl(); }
error_t Group::adopt_nccl(ncclComm*, Group_limits const&, Group&) noexcept { return no_nccl(); }

}  // namespace sdpa_graph
