// The user's filters of engines, for all backends.
#pragma once

#include "plan/backend.h"

#include <cstdint>
#include <string>

namespace cudnn_frontend::plan {

// The reason why the filters bar an engine; empty if they do not.
std::string reason_to_bar(EngineInfo const& engine, std::int64_t workspace_bytes, Filters const& filters);

}  // namespace cudnn_frontend::plan
