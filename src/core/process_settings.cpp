#include "core/process_settings.h"

#include "core/environment.h"

namespace cudnn_frontend::core::process {

// Before any code runs: static objects of a program may build graphs.
constinit Setting<std::size_t> kept_graphs(environment::kept_graphs);
constinit Setting<bool> ignores_limits(environment::ignores_limits);
constinit Setting<bool> checks_indices(environment::checks_indices);

}  // namespace cudnn_frontend::core::process
