#include "nodes/wording.h"

#include "nodes/schema.h"

namespace cudnn_frontend::nodes {

std::string label(Node const& node, std::size_t position) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", position);
}

std::string label(GraphSpec const& graph, Node const& node) {
    return label(node, static_cast<std::size_t>(&node - graph.nodes.data()));
}

}  // namespace cudnn_frontend::nodes
