#include "nodes/schema/wording.h"

#include "nodes/schema/schema.h"

namespace cudnn_frontend::nodes {

std::string label(Node const& node) {
    if (!node.name.empty()) return node.name;
    return text(schema_of(node.kind()).tag, " ", node.position);
}

std::string name_of_node(Node const& node) {
    if (!node.name.empty()) return node.name;
    std::string name = schema_of(node.kind()).tag;
    for (char& letter : name) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return name;
}

std::string name_of_tensor(TensorSpec const& tensor, Node const* producer) {
    if (has_name(tensor)) return tensor.name;
    if (!tensor.name.empty() && producer != nullptr) return name_of_node(*producer) + tensor.name;
    return "tensor_" + std::to_string(tensor.uid.value_or(-1));
}

}  // namespace cudnn_frontend::nodes
