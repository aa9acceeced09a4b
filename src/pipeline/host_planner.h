// Plans on host memory, for Target::cpu() and Target::reference().
#pragma once

#include "pipeline/planner.h"

namespace cudnn_frontend::pipeline {

Result<std::shared_ptr<Planner>> make_host_planner(PlanningInput const& input);

}  // namespace cudnn_frontend::pipeline
