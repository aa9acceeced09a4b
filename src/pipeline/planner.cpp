#include "pipeline/planner.h"

#include "pipeline/cudnn_planner.h"
#include "pipeline/host_planner.h"

namespace cudnn_frontend::pipeline {

Result<std::shared_ptr<Planner>> Planner::lower(PlanningInput const& input) {
    switch (input.target.kind()) {
        case Target::Kind::CPU:
        case Target::Kind::REFERENCE: return make_host_planner(input);
        case Target::Kind::CUDA:
        case Target::Kind::OFFLINE: break;
    }
    return make_cudnn_planner(input);
}

error_t Planner::check_index(std::int64_t index) const {
    if (index >= 0 && index < candidate_count()) return {};
    return {error_code_t::GRAPH_EXECUTION_FAILED, "there is no plan " + std::to_string(index) +
                                                      "; get_execution_plan_count() is " +
                                                      std::to_string(candidate_count())};
}

error_t Planner::not_built(std::int64_t index) {
    return {error_code_t::GRAPH_EXECUTION_FAILED, "plan " + std::to_string(index) +
                                                      " is not built; call build_plan_at_index(" +
                                                      std::to_string(index) + ") first"};
}

}  // namespace cudnn_frontend::pipeline
