#include "pipeline/planner.h"

#include "pipeline/cudnn_planner.h"
#include "pipeline/host_planner.h"

namespace cudnn_frontend::inline v1::pipeline {

Result<std::shared_ptr<Planner>> Planner::lower(PlanningInput const& input) {
    switch (input.target.kind()) {
        case Target::Kind::CPU:
        case Target::Kind::REFERENCE: return make_host_planner(input);
        case Target::Kind::CUDA:
        case Target::Kind::OFFLINE: break;
    }
    return make_cudnn_planner(input);
}

}  // namespace cudnn_frontend::inline v1::pipeline
