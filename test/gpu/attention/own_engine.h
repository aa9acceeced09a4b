// Graphs of cases that the library's own engine runs on the GPU.
#pragma once

#include "gpu/device_mirror.h"

namespace sdpa_test {

// The engine has generated dropout only where no other one may run the other pass.
RunOn queue_of(AttentionCase const& c);

// Plans the graph with this engine, as for any shape, alone.
cudnn_frontend::error_t build_by_own_engine(Graph& graph, GpuStream const& gpu, RunOn queue);

}  // namespace sdpa_test
