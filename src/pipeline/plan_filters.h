// Which candidates the user wants, on whatever target.
#pragma once

#include "graph/plan_settings.h"
#include "pipeline/plan.h"

#include <cstdint>
#include <string>

namespace cudnn_frontend::pipeline {

// Why the filters bar a candidate; empty where they let it pass.
std::string reason_to_bar(CandidateInfo const& candidate, std::int64_t workspace_bytes,
                          graph::PlanFilters const& filters);

}  // namespace cudnn_frontend::pipeline
