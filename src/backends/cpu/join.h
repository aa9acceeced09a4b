// Joins the partial results of programs in host memory.
#pragma once

#include "plan/backend.h"

namespace cudnn_frontend::cpu {

std::shared_ptr<plan::Executable const> join(rewrite::Joint const& joint);

}  // namespace cudnn_frontend::cpu
