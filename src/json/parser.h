// Text -> JSON value, with limits: hostile text costs bounded time, memory and stack.
#pragma once

#include "json/document.h"
#include "json/problems.h"

#include <string_view>

namespace cudnn_frontend::json {

// The value, complete only where no problem was added. Members that stand twice are kept twice, and reported.
Json parse(std::string_view text, Problems& problems);

}  // namespace cudnn_frontend::json
