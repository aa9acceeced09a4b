// Plans that were stored: compared with the present library and GPU, then opened.
#pragma once

#include "plan/packs/pack.h"
#include "plan/seam/backend.h"

namespace cudnn_frontend::cudnn {

Result<plan::Loaded> load_stored_plan(plan::PlanningInput const& input, std::string_view text,
                                      plan::CheckIndices check_indices);

}  // namespace cudnn_frontend::cudnn
