// From a validated graph, or a stored plan of it, to what a planner of cuDNN works on.
#pragma once

#include "core/capabilities.h"
#include "expand/expand.h"
#include "pipeline/planner.h"
#include "pipeline/with_cudnn/cudnn_work.h"

namespace cudnn_frontend::pipeline {

// How operations are chosen for cuDNN.
expand::Capabilities expansion_for_cudnn(core::Capabilities const& device);

Result<std::shared_ptr<CudnnWork const>> lower_for_cudnn(PlanningInput const& input);

struct LoadedPlan {
    std::shared_ptr<CudnnWork const> work;
    std::shared_ptr<CudnnPlan const> plan;
};

Result<LoadedPlan> load_for_cudnn(PlanningInput const& input, std::string const& text);

}  // namespace cudnn_frontend::pipeline
