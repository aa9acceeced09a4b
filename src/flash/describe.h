// A class of calls as a graph.
#pragma once

#include "flash/shapes.h"

#include <cudnn_frontend/graph.h>

namespace sdpa_graph::flash {

// The tensors that a graph binds in addition to the arguments. From FirstStarts on, there is a number for each of
// starts_of() the shapes.
enum class Extra { LengthsQ = static_cast<int>(kArguments), LengthsK, Dropped, FirstStarts };

// Tensors have the numbers of their Argument or Extra as uids.
void describe(Shapes const& shapes, fe::graph::Graph& graph);

}  // namespace sdpa_graph::flash
