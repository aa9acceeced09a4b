// Whether a quirk stands in a place: what passes ask of the table.
#pragma once

#include "core/capabilities.h"

#include <string_view>

namespace cudnn_frontend::quirks {

// Some row of that id.
bool is_in_force(std::string_view id, core::Capabilities const& here);

}  // namespace cudnn_frontend::quirks
