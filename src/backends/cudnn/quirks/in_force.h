// Whether a quirk applies in a place: a query of the table by passes.
#pragma once

#include "cudnn/quirks/place.h"

#include <string_view>

namespace cudnn_frontend::quirks {

// Whether some row with that id applies.
bool is_in_force(std::string_view id, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
