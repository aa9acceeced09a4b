#include "nodes/wording.h"

#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::nodes {

std::string label(GraphSpec const& graph, Node const& node) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", &node - graph.nodes.data());
}

}  // namespace cudnn_frontend::inline v1::nodes
