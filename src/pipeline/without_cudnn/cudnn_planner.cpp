#include "pipeline/cudnn_planner.h"

namespace cudnn_frontend::pipeline {

static error_t no_cudnn() {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library has no cuDNN target, because no headers of cuDNN 9.10 or newer and CUDA were "
            "found when it was configured; build it with Target::cpu() or Target::reference() and host pointers, or "
            "configure with SDPA_GRAPH_CUDNN_INCLUDE_DIR and SDPA_GRAPH_CUDA_INCLUDE_DIR"};
}

Result<std::shared_ptr<Planner>> make_cudnn_planner(PlanningInput const&) { return no_cudnn(); }
Result<std::shared_ptr<Planner>> load_cudnn_plan(PlanningInput const&, std::string const&) { return no_cudnn(); }
Result<std::string> record_device(cudnnHandle_t, std::int32_t) { return no_cudnn(); }
Result<std::string> find_device(std::string const&) { return no_cudnn(); }
Result<std::string> parse_device(std::string const&) { return no_cudnn(); }
std::vector<std::string> device_names() { return {}; }

}  // namespace cudnn_frontend::pipeline
