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

std::string label(GraphSpec const& graph, Node const& node) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", &node - graph.nodes.data());
}

}  // namespace cudnn_frontend::inline v1::nodes
