// Writes to the log, whole lines at a time.
#pragma once

#include <string>

namespace cudnn_frontend::core {

void log_line(std::string const& text);

}  // namespace cudnn_frontend::core
