// The null driver's library file, as part of this one.
#pragma once

#include <cstddef>
#include <span>

namespace cudnn_frontend::offline {

std::span<std::byte const> null_driver_bytes();

}  // namespace cudnn_frontend::offline
