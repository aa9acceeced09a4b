// A program converts lengths and Stats of types that engines do not take.
#pragma once

#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

Result<Program> converted(Attention const& attention);

}  // namespace cudnn_frontend::rewrite
