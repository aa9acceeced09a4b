// Which forward attention asks for the implementation UNIFIED, and which properties decide where the choice is left
// open.
#pragma once

#include "nodes/schema/graph_spec.h"

namespace cudnn_frontend::nodes {

// The port of the first cumulative lengths that mask padding; -1 where each sequence has a length.
int sums_port(Node const& node);
// The port of the first tensor whose ragged offset counts several elements as one; -1 where there is none.
int multiplied_port(GraphSpec const& graph, Node const& node);
bool unfuses_multiplication(Node const& node);

bool asks_for_unified(Node const& node);  // set_implementation(UNIFIED) was called
// Whether it is forward attention with a block mask, cumulative lengths, an offset's multiplier or unfused
// multiplication.
bool needs_unified(GraphSpec const& graph, Node const& node);
bool is_told_as_unified(GraphSpec const& graph, Node const& node);  // asks for it or needs it

}  // namespace cudnn_frontend::nodes
