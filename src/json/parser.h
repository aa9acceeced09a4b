// Text -> JSON value, with limits: hostile text costs bounded time, memory and stack.
#pragma once

#include "json/document.h"
#include "json/problems.h"

#include <string_view>

namespace cudnn_frontend::json {

// The value, complete only if no problem was added. Duplicate members are both kept, and reported.
Json parse(std::string_view text, Problems& problems);

}  // namespace cudnn_frontend::json
