// Whether a plan runs on a queue.
#pragma once

#include <cudnn_frontend/graph.h>

namespace cudnn_frontend::api {

// An error if plans for such targets cannot run on the queue.
error_t check_queue(Target::Kind planned_for, detail::Run_queue const& queue);

}  // namespace cudnn_frontend::api
