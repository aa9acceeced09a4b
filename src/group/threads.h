// Groups of threads of one process, whose ranks copy from each other's memory.
#pragma once

#include "group/transport.h"

#include <memory>
#include <vector>

namespace cudnn_frontend::group {

// One transport for each rank. A rank leaves the group when its transport is destroyed.
std::vector<std::shared_ptr<Transport>> make_threads(int size, Milliseconds deadline);

// Refuses to run.
std::shared_ptr<Transport> make_described(int rank, int size);

}  // namespace cudnn_frontend::group
