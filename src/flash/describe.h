// A class of calls as a graph.
#pragma once

#include "flash/shapes.h"

#include <cudnn_frontend/graph.h>

namespace sdpa_graph::flash {

// Tensors have the numbers of their Argument or Extra as uids.
void describe(Shapes const& shapes, fe::graph::Graph& graph);

}  // namespace sdpa_graph::flash
