#include "nodes/wording.h"

#include "nodes/schema.h"

#include <charconv>

namespace cudnn_frontend::inline v1::nodes {

template <class Float>
static std::string shortest(Float value) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string wording::number(float value) { return shortest(value); }
std::string wording::number(double value) { return shortest(value); }

std::string label(GraphSpec const& graph, TensorSpec const& tensor) {
    if (!tensor.name.empty()) return tensor.name;
    auto const id = static_cast<TensorId>(&tensor - graph.tensors.data());
    for (Node const& node : graph.nodes) {
        for (PortRow const& row : schema_of(node.kind()).ports) {
            if (node.ports[static_cast<std::size_t>(row.port)] == id) return text(label(graph, node), ".", row.name);
        }
    }
    return text("tensor ", id);
}

std::string label(GraphSpec const& graph, Node const& node) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", &node - graph.nodes.data());
}

}  // namespace cudnn_frontend::inline v1::nodes
