// Groups of GPUs in a build without CUDA.
#include "group/group_rules.h"

#include <sdpa_graph/group.h>

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
