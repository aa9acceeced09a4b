#include "nodes/schema/uses.h"

#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes {

Uses uses_of_tensors(GraphSpec const& graph) {
    Uses uses(graph.tensors.size());
    for (Node const& node : every_node(graph)) {
        for (PortRow const& row : schema_of(node.kind()).ports) {
            TensorId const id = node.ports[static_cast<std::size_t>(row.port)];
            if (id == kNoTensor) continue;
            TensorUses& tensor = uses[static_cast<std::size_t>(id)];
            (row.direction == Direction::Input ? tensor.readers : tensor.writers).push_back({&node, &row});
        }
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
        TensorId const offset = graph.tensors[i].ragged_offset;
        if (offset != kNoTensor && uses[i].any()) uses[static_cast<std::size_t>(offset)].is_offset = true;
    }
    return uses;
}

std::string label(GraphSpec const& graph, Uses const& uses, TensorSpec const& tensor) {
    if (has_name(tensor)) return tensor.name;
    auto const id = static_cast<std::size_t>(&tensor - graph.tensors.data());
    TensorUses const& those = uses[id];
    if (those.readers.empty() && those.writers.empty()) return text("tensor ", id);
    PortUse const& use = those.writers.empty() ? those.readers[0] : those.writers[0];
    return text(label(*use.node), ".", use.port->name);
}

}  // namespace cudnn_frontend::nodes
