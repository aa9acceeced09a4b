// 8-bit attention: the same node as other attention, whose tensors of 8 bits come with factors, and whose results tell
// their greatest magnitudes.
#pragma once

#include "nodes/node.h"

namespace cudnn_frontend::inline v1::nodes {

// Whether only 8-bit attention has the port: a factor where it is an input, a greatest magnitude where it is an output.
constexpr bool is_fp8_port(int port) { return port >= attention::Descale_q && port <= attention::Amax_dP; }

// Whether the node is 8-bit attention: it has such a port connected. Builders always connect the greatest magnitudes.
bool is_fp8(Node const& node);

}  // namespace cudnn_frontend::inline v1::nodes
