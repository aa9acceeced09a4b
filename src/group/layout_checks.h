// Whether a layout splits a sequence.
#pragma once

#include <sdpa_graph/group.h>

#include <string>

namespace cudnn_frontend::group {

// The fault of a layout: tokens that no rank or several ranks own, or a rank without tokens. Empty if it has none.
std::string fault_of(sdpa_graph::Layout const& layout);

}  // namespace cudnn_frontend::group
