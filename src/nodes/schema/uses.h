// Which ports of a graph read and write each tensor.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

#include <string>
#include <vector>

namespace cudnn_frontend::nodes {

struct PortUse {
    Node const* node;
    PortRow const* port;
};

struct TensorUses {
    std::vector<PortUse> readers;
    std::vector<PortUse> writers;
    bool is_offset = false;  // holds the ragged offsets of a used tensor

    bool is_read() const { return !readers.empty() || is_offset; }
    bool any() const { return is_read() || !writers.empty(); }
};

// The uses by tensor id.
using Uses = std::vector<TensorUses>;
Uses uses_of_tensors(GraphSpec const& graph);

// The tensor in messages: its name, or a port that it is connected to.
std::string label(GraphSpec const& graph, Uses const& uses, TensorSpec const& tensor);

}  // namespace cudnn_frontend::nodes
