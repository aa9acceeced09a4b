// The backends of this build; no other place knows them all.
#pragma once

#include "plan/seam/backend.h"

namespace cudnn_frontend::api {

// In the order in which their engines are tried.
plan::Backends const& backends();

}  // namespace cudnn_frontend::api
