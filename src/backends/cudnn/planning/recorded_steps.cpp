#include "cudnn/planning/recorded_steps.h"

namespace cudnn_frontend::cudnn {

error_t GraphSteps::add(Record const& record) {
    if (last_ == nullptr) SDPA_GRAPH_TRY(cuda::check_is_empty(graph_));
    auto const step = cuda::make_cuda_graph();
    if (step.is_bad()) return step.error();
    SDPA_GRAPH_TRY(record(step.value()->graph));
    return cuda::add_child(graph_, last_, step.value()->graph).move_to(last_);
}

error_t GraphSteps::update(Record const& record) {
    SDPA_GRAPH_TRY(cuda::node_after(graph_, last_).move_to(last_));
    auto const step = cuda::child_of(last_);
    return step.is_bad() ? step.error() : record(step.value());
}

}  // namespace cudnn_frontend::cudnn
