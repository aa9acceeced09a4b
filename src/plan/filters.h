// Which engines the user wants, whosever they are.
#pragma once

#include "plan/backend.h"

#include <cstdint>
#include <string>

namespace cudnn_frontend::plan {

// Why the filters bar an engine; empty where they let it pass.
std::string reason_to_bar(EngineInfo const& engine, std::int64_t workspace_bytes, Filters const& filters);

}  // namespace cudnn_frontend::plan
