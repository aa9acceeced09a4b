// The backend of Target::cpu() and Target::reference(): plans on host memory.
#pragma once

#include "plan/seam/backend.h"

namespace cudnn_frontend::cpu {

plan::Backend const& backend();

// Joins the partial results of programs in host memory.
std::shared_ptr<plan::Executable const> join(rewrite::Joint const& joint);

}  // namespace cudnn_frontend::cpu
