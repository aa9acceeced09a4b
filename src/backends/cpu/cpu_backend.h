// The backend of Target::cpu() and Target::reference(): plans on host memory.
#pragma once

#include "plan/backend.h"

namespace cudnn_frontend::cpu {

plan::Backend const& backend();

}  // namespace cudnn_frontend::cpu
